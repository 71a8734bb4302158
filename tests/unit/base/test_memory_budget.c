/* The memory budget of the process: what arenas charge, the shares of accounts and clients, the large request. decision: 970 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/memory_budget.h"

#define MIB ((size_t)1 << 20)

static const struct memory_holder nobody;

static void expect_all_released(void)
{
    assert_true(memory_budget_charge(nobody, MEMORY_REQUEST, MEMORY_BUDGET_BYTES));
    memory_budget_release(nobody, MEMORY_REQUEST, MEMORY_BUDGET_BYTES);
    assert_int_equal(memory_large_held(), 0);
    for (enum memory_use use = 0; use < MEMORY_USES; use++)
        assert_int_equal(memory_budget_held(use), 0);
}

static struct memory_holder holder_of(const char *account, const char *client)
{
    return (struct memory_holder){ .account = memory_share_of_account(account),
                                   .client = memory_share_of_client(client) };
}

static void hold(struct arena *arena, size_t bytes)
{
    while (arena_held(arena) < bytes)
        arena_bytes(arena, 64 << 10);
}

/* Charged arenas share the budget of the process. Memory that one releases is available to others. */
static void arenas_share_the_budget(void **state)
{
    const size_t half = MEMORY_BUDGET_BYTES / 2, more = 4 * MIB;
    struct arena *one = arena_new_charged(SIZE_MAX, MEMORY_REQUEST);
    struct arena *other = arena_new_charged(SIZE_MAX, MEMORY_BACKGROUND);
    struct arena_mark mark = arena_mark(one), start = arena_mark(other);

    (void)state;
    hold(one, half - more);
    hold(other, half - more);
    assert_false(arena_is_exhausted(one) || arena_is_exhausted(other));
    assert_in_range(memory_budget_held(MEMORY_BACKGROUND), half - 2 * more, half - more + 2 * MIB);
    hold(other, half + 2 * more);
    assert_false(arena_is_exhausted(one));
    assert_true(arena_is_exhausted(other));
    arena_rewind(one, mark);
    assert_true(arena_is_exhausted(other)); /* until it charges again */
    assert_true(arena_charge_again(other));
    arena_rewind(other, start);
    hold(other, half + 2 * more);
    assert_false(arena_is_exhausted(other));
    arena_free(other);
    arena_free(one);
    expect_all_released();
}

/* An account may hold three times, and a client as much as, what is left then. */
static void shares(void **state)
{
    static const char accounts[1], clients[2];
    const struct memory_holder one = holder_of(accounts, clients);
    const struct memory_holder two = holder_of(accounts, clients + 1);
    const size_t of_client = MEMORY_BUDGET_BYTES / 2, of_account = MEMORY_BUDGET_BYTES / 4 * 3;

    (void)state;
    assert_ptr_not_equal(one.client, two.client);
    assert_false(memory_budget_covers(one, of_client + 1));
    assert_true(memory_budget_charge(one, MEMORY_REQUEST, of_client));
    assert_false(memory_budget_charge(one, MEMORY_REQUEST, 1));
    assert_true(memory_budget_charge(two, MEMORY_REQUEST, of_account - of_client));
    assert_false(memory_budget_charge(two, MEMORY_REQUEST, 1));
    assert_true(memory_budget_charge(nobody, MEMORY_REQUEST, MEMORY_BUDGET_BYTES - of_account));
    memory_budget_release(nobody, MEMORY_REQUEST, MEMORY_BUDGET_BYTES - of_account);
    memory_budget_release(one, MEMORY_REQUEST, of_client);
    assert_true(memory_budget_charge(two, MEMORY_REQUEST, 1));
    memory_budget_release(two, MEMORY_REQUEST, of_account - of_client + 1);
    expect_all_released();
}

/* What an arena holds counts for its account as soon as that is known. */
static void charges_move(void **state)
{
    static const char account[1];
    struct arena *arena = arena_new_charged(SIZE_MAX, MEMORY_REQUEST);
    const struct memory_holder holder = holder_of(account, NULL);

    (void)state;
    hold(arena, 90 * MIB);
    assert_false(arena_is_exhausted(arena));
    arena_charge_to(arena, holder);
    assert_false(memory_budget_covers(holder, 10 * MIB));
    assert_true(memory_budget_covers(nobody, 10 * MIB));
    arena_free(arena);
    assert_true(memory_budget_covers(holder, 90 * MIB));
    expect_all_released();
}

/* While it decides, one request may hold more than the budget: the next one may when it is done. */
static void one_request_is_large(void **state)
{
    struct arena *one = arena_new_charged(SIZE_MAX, MEMORY_REQUEST);
    struct arena *other = arena_new_charged(SIZE_MAX, MEMORY_REQUEST);
    struct arena_mark mark, other_mark;

    (void)state;
    assert_true(memory_budget_charge(nobody, MEMORY_REQUEST, MEMORY_BUDGET_BYTES - MIB));
    mark = arena_mark(one);
    other_mark = arena_mark(other);
    arena_begin_decision(one);
    arena_begin_decision(other);
    hold(one, MEMORY_LARGE_BYTES - MIB);
    assert_false(arena_is_exhausted(one));
    hold(other, 4 * MIB);
    assert_true(arena_is_exhausted(other));
    arena_rewind(one, mark);
    assert_int_equal(memory_large_held(), 0);
    arena_rewind(other, other_mark);
    hold(other, 4 * MIB);
    assert_false(arena_is_exhausted(other));
    arena_rewind(other, other_mark);
    hold(one, MEMORY_LARGE_BYTES + 2 * MIB);
    assert_true(arena_is_exhausted(one));
    arena_free(other);
    arena_free(one);
    memory_budget_release(nobody, MEMORY_REQUEST, MEMORY_BUDGET_BYTES - MIB);
    expect_all_released();
}

/* A response that waits for its client is charged to the budget, or it is refused: the next request can be large. */
static void a_response_is_not_large(void **state)
{
    const size_t taken = MEMORY_BUDGET_BYTES - MIB;
    struct arena *arena = arena_new_charged(SIZE_MAX, MEMORY_REQUEST);
    struct arena_mark mark = arena_mark(arena);
    struct bytes response = { .len = 8 * MIB };

    (void)state;
    assert_true(memory_budget_charge(nobody, MEMORY_REQUEST, taken));
    arena_begin_decision(arena);
    response.ptr = arena_bytes(arena, response.len);
    hold(arena, 20 * MIB);
    assert_false(arena_is_exhausted(arena));
    assert_false(arena_end_decision_except(arena, mark, response));
    assert_int_equal(memory_large_held(), 0);
    memory_budget_release(nobody, MEMORY_REQUEST, taken);
    assert_true(arena_charge_again(arena));
    assert_in_range(memory_budget_held(MEMORY_REQUEST), response.len, response.len + 2 * MIB);
    arena_free(arena);
    expect_all_released();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arenas_share_the_budget),
        cmocka_unit_test(shares),
        cmocka_unit_test(charges_move),
        cmocka_unit_test(one_request_is_large),
        cmocka_unit_test(a_response_is_not_large),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
