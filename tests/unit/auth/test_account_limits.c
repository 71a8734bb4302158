/* What an account with limits is let do, by a clock that the test sets. auth/account_limits.h; decision: 460 */
#include "auth_test.h"

#include <pthread.h>
#include <stdatomic.h>

#include "auth/account_limits.h"

#define SECOND_NS UINT64_C(1000000000)
#define START_NS  (1000 * SECOND_NS)

static const struct account *limited(struct accounts **ret_accounts, uint64_t requests,
                                     uint64_t bytes)
{
    struct account_limits limits = { { [LIMIT_REQUESTS] = requests, [LIMIT_BYTES] = bytes } };
    struct accounts *accounts = accounts_new();
    const char *problem = NULL;

    accounts_set_limits(accounts, &limits);
    assert_true(accounts_add_list(accounts, "one:a2V5;two:a2V5", &problem));
    *ret_accounts = accounts;
    return accounts_find(accounts, bytes_from_string("one"));
}

/* Rule: after a pause so many requests as a second has; then one each 1/rate of a second, and a refusal says when. */
static void requests_are_let_in_by_their_rate(void **state)
{
    struct accounts *accounts;
    const struct account *one = limited(&accounts, 4, 0);
    uint64_t wait_ns = 0;

    (void)state;
    assert_int_equal(account_hindrances(one), ACCOUNT_IS_LIMITED);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(account_admit(one, WAY_OUT, START_NS, &wait_ns), OK);
    assert_int_equal(account_admit(one, WAY_IN, START_NS, &wait_ns), E_ServerBusyOperations);
    assert_int_equal(wait_ns, SECOND_NS / 4);
    assert_int_equal(account_admit(one, WAY_IN, START_NS + wait_ns - 1, &wait_ns),
                     E_ServerBusyOperations);
    assert_int_equal(wait_ns, 1);
    assert_int_equal(account_admit(one, WAY_IN, START_NS + SECOND_NS / 4, &wait_ns), OK);
    assert_int_equal(account_admit(one, WAY_IN, START_NS + SECOND_NS / 4, &wait_ns),
                     E_ServerBusyOperations);
    /* A long pause saves no more than a second's. */
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(account_admit(one, WAY_IN, START_NS + 60 * SECOND_NS, &wait_ns), OK);
    assert_int_equal(account_admit(one, WAY_IN, START_NS + 60 * SECOND_NS, &wait_ns),
                     E_ServerBusyOperations);
    accounts_free(accounts);
}

/* Rule: bytes are paid for after they were let in, those that come and those that go apart; another account's are
 * its own. */
static void bytes_are_paid_for(void **state)
{
    struct accounts *accounts;
    const struct account *one = limited(&accounts, 0, 1000);
    const struct account *two = accounts_find(accounts, bytes_from_string("two"));
    uint64_t wait_ns = 0;

    (void)state;
    assert_int_equal(account_admit(one, WAY_IN, START_NS, &wait_ns), OK);
    account_pay(one, WAY_IN, 3500, START_NS);
    assert_int_equal(account_admit(one, WAY_IN, START_NS, &wait_ns), E_ServerBusyIngress);
    assert_int_equal(wait_ns, 2500 * SECOND_NS / 1000);
    assert_int_equal(account_admit(one, WAY_OUT, START_NS, &wait_ns), OK);
    assert_int_equal(account_admit(two, WAY_IN, START_NS, &wait_ns), OK);
    assert_int_equal(account_admit(one, WAY_IN, START_NS + 2500 * SECOND_NS / 1000, &wait_ns), OK);
    account_pay(one, WAY_OUT, 1001, START_NS);
    assert_int_equal(account_admit(one, WAY_OUT, START_NS, &wait_ns), E_ServerBusyEgress);
    /* What nobody can have sent in a lifetime is no overflow. */
    account_pay(two, WAY_IN, UINT64_MAX, START_NS);
    account_pay(two, WAY_IN, UINT64_MAX, START_NS);
    assert_int_equal(account_admit(two, WAY_IN, START_NS, &wait_ns), E_ServerBusyIngress);
    accounts_free(accounts);
}

/* Rule: an account of the store may have limits of its own, or none where others have some; they may change. */
static void limits_of_one_outweigh_those_of_all(void **state)
{
    struct account_limits own = { { [LIMIT_REQUESTS] = 7, [LIMIT_BYTES] = LIMIT_NONE } };
    struct stored_account stored = { .name = BYTES("three"),
                                     .keys = { BYTES("a2V5") },
                                     .key_count = 1,
                                     .limits = &own,
                                     .version = 1 };
    struct accounts *accounts;
    const struct account *account;

    (void)state;
    limited(&accounts, 3, 1000);
    assert_int_equal(accounts_put_stored(accounts, &stored), ACCOUNT_PUT);
    account = accounts_find(accounts, stored.name);
    assert_int_equal(account_limit(account, LIMIT_REQUESTS), 7);
    assert_int_equal(account_limit(account, LIMIT_BYTES), 0);
    own = (struct account_limits){ { [LIMIT_REQUESTS] = LIMIT_NONE, [LIMIT_BYTES] = LIMIT_NONE } };
    stored.version = 2;
    assert_int_equal(accounts_put_stored(accounts, &stored), ACCOUNT_PUT);
    assert_int_equal(account_hindrances(account), 0);
    own = (struct account_limits){ { 0, 0 } };
    stored.version = 3;
    stored.disabled = true;
    assert_int_equal(accounts_put_stored(accounts, &stored), ACCOUNT_PUT);
    assert_int_equal(account_limit(account, LIMIT_REQUESTS), 3);
    assert_int_equal(account_hindrances(account), ACCOUNT_IS_LIMITED | ACCOUNT_IS_DISABLED);
    accounts_free(accounts);
}

/* Rule: what comes is added to what was counted last; what came before a count began is not counted twice; what is
 * refused is not counted, and asks for a count. */
static void bytes_that_are_kept_have_a_limit(void **state)
{
    struct account_limits limits = { { [LIMIT_CAPACITY] = 1000 } };
    struct accounts *accounts = accounts_new();
    const struct account *one;
    const char *problem = NULL;

    (void)state;
    accounts_set_limits(accounts, &limits);
    assert_true(accounts_add_list(accounts, "one:a2V5", &problem));
    one = accounts_find(accounts, bytes_from_string("one"));
    assert_true(account_keep(one, 600));
    assert_false(account_keep(one, 401));
    assert_true(account_usage_is_wanted(one));
    account_usage_begins(one);
    assert_true(account_keep(one, 100));
    account_usage_found(one, 550); /* 50 of the first were deleted; it has not seen the 100 */
    assert_false(account_usage_is_wanted(one));
    assert_false(account_keep(one, 351));
    assert_true(account_keep(one, 350));
    assert_false(account_keep(one, 0));
    assert_false(account_keep(one, UINT64_MAX));
    account_usage_begins(one);
    account_usage_found(one, 0);
    assert_true(account_keep(one, 1000));
    accounts_free(accounts);
}

/* Rule: bytes in other cells count, and a cell that refused something makes the others count again. */
static void bytes_of_other_cells_count(void **state)
{
    struct account_limits limits = { { [LIMIT_CAPACITY] = 1000 } };
    struct account_usage elsewhere = { .bytes = 700 };
    struct accounts *accounts = accounts_new();
    const struct account *one;
    const char *problem = NULL;

    (void)state;
    accounts_set_limits(accounts, &limits);
    assert_true(accounts_add_list(accounts, "one:a2V5", &problem));
    one = accounts_find(accounts, bytes_from_string("one"));
    assert_false(account_usage_here(one).is_counted);
    account_usage_elsewhere(one, &elsewhere);
    assert_false(account_keep(one, 301));
    assert_true(account_usage_here(one).was_refused);
    assert_true(account_keep(one, 300));
    assert_true(account_is_full(one));
    assert_int_equal(account_usage_here(one).bytes, 300);
    account_usage_begins(one);
    account_usage_found(one, 300);
    assert_true(account_usage_here(one).is_counted);
    assert_false(account_usage_is_wanted(one));
    elsewhere = (struct account_usage){ .bytes = 400, .was_refused = true };
    account_usage_elsewhere(one, &elsewhere);
    assert_true(account_usage_is_wanted(one));
    assert_false(account_usage_here(one).was_refused); /* it is not passed on */
    assert_false(account_is_full(one));
    assert_true(account_keep(one, 300));
    accounts_free(accounts);
}

#define THREADS 4
#define ASKED   20000

struct asking {
    const struct account *account;
    size_t admitted;
};

static void *ask(void *argument)
{
    struct asking *asking = argument;
    uint64_t wait_ns;

    for (size_t i = 0; i < ASKED; i++)
        asking->admitted += account_admit(asking->account, WAY_IN, START_NS, &wait_ns) == OK;
    return NULL;
}

/* Rule: threads that ask at once are let in as often as one would be. */
static void threads_share_one_rate(void **state)
{
    struct accounts *accounts;
    const struct account *one = limited(&accounts, 1000, 0);
    struct asking asking[THREADS];
    pthread_t threads[THREADS];
    size_t admitted = 0;

    (void)state;
    for (size_t i = 0; i < THREADS; i++) {
        asking[i] = (struct asking){ .account = one };
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &asking[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        admitted += asking[i].admitted;
    }
    assert_int_equal(admitted, 1000);
    accounts_free(accounts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_let_in_by_their_rate),
        cmocka_unit_test(bytes_are_paid_for),
        cmocka_unit_test(limits_of_one_outweigh_those_of_all),
        cmocka_unit_test(bytes_that_are_kept_have_a_limit),
        cmocka_unit_test(bytes_of_other_cells_count),
        cmocka_unit_test(threads_share_one_rate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
