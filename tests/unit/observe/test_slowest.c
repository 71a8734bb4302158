/* The slowest requests of the last hour, against a list of all of them. observe/slowest.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "observe/slowest.h"

static struct slowest slowest;
static struct slow_request found[SLOWEST_MAX];

static int setup(void **state)
{
    (void)state;
    slowest_init(&slowest);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    lock_destroy(&slowest.lock);
    return 0;
}

static void put(uint64_t now_ns, uint64_t all_ns)
{
    const struct slow_request request = { .all_ns = all_ns, .ended_ns = now_ns };

    if (slowest_wants(&slowest, now_ns, all_ns))
        slowest_put(&slowest, &request);
}

static void the_slowest_of_a_period_are_kept(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 1000; i++)
        put(1, 1 + i * 7919 % 1000); /* each of 1 to 1000 once */
    assert_int_equal(slowest_read(&slowest, 1, found), SLOWEST_SHOWN);
    for (size_t i = 0; i < SLOWEST_SHOWN; i++)
        assert_int_equal(found[i].all_ns, 1000 - i);
}

static void what_is_no_slower_takes_no_lock(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SLOWEST_SHOWN; i++) {
        assert_true(slowest_wants(&slowest, 1, 1));
        put(1, 100);
    }
    assert_false(slowest_wants(&slowest, 1, 100));
    assert_true(slowest_wants(&slowest, 1, 101));
    assert_true(slowest_wants(&slowest, SLOWEST_PERIOD_NS, 1)); /* of the next period */
}

/* However many of them came in the same five minutes. */
static void the_slowest_of_the_hour_are_shown(void **state)
{
    (void)state;
    for (uint64_t period = 0; period < 12; period++)
        for (uint64_t i = 1; i <= 100; i++)
            put(period * SLOWEST_PERIOD_NS, period == 5 ? 1000 + i : i);
    assert_int_equal(slowest_read(&slowest, 11 * SLOWEST_PERIOD_NS, found), SLOWEST_SHOWN);
    for (size_t i = 0; i < SLOWEST_SHOWN; i++)
        assert_int_equal(found[i].all_ns, 1100 - i);
}

static void an_hour_ends_at_its_end(void **state)
{
    uint64_t half = SLOWEST_PERIOD_NS / 2;

    (void)state;
    put(half, 50);
    put(half + 1, 45);
    put(SLOWEST_PERIOD_NS, 40);
    assert_int_equal(slowest_read(&slowest, half + SLOWEST_HOUR_NS - 1, found), 3);
    assert_int_equal(slowest_read(&slowest, half + SLOWEST_HOUR_NS, found), 2);
    assert_int_equal(found[0].all_ns, 45);
    put(SLOWEST_PERIODS * SLOWEST_PERIOD_NS, 30); /* in the place of the first period */
    assert_int_equal(slowest_read(&slowest, SLOWEST_PERIODS * SLOWEST_PERIOD_NS, found), 1);
    assert_int_equal(slowest_read(&slowest, 100 * SLOWEST_PERIOD_NS, found), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_slowest_of_a_period_are_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_no_slower_takes_no_lock, setup, teardown),
        cmocka_unit_test_setup_teardown(the_slowest_of_the_hour_are_shown, setup, teardown),
        cmocka_unit_test_setup_teardown(an_hour_ends_at_its_end, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
