/* The slowest requests of the last hour: as many as are kept of each five minutes, against a list of all of them.
 * service/slowest.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "service/slowest.h"

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
    lock_release(&slowest.lock);
    return 0;
}

static void put(uint64_t now_ns, uint64_t all_ns)
{
    const struct slow_request request = { .all_ns = all_ns };

    if (slowest_wants(&slowest, now_ns, all_ns))
        slowest_put(&slowest, now_ns, &request);
}

static void the_slowest_of_a_period_are_kept(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 1000; i++)
        put(1, 1 + i * 7919 % 1000); /* each of 1 to 1000 once */
    assert_int_equal(slowest_read(&slowest, 1, found), SLOWEST_OF_PERIOD);
    for (size_t i = 0; i < SLOWEST_OF_PERIOD; i++)
        assert_int_equal(found[i].all_ns, 1000 - i);
}

static void what_is_no_slower_takes_no_lock(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SLOWEST_OF_PERIOD; i++) {
        assert_true(slowest_wants(&slowest, 1, 1));
        put(1, 100);
    }
    assert_false(slowest_wants(&slowest, 1, 100));
    assert_true(slowest_wants(&slowest, 1, 101));
    assert_true(slowest_wants(&slowest, SLOWEST_PERIOD_NS, 1)); /* of the next period */
}

static void what_is_older_than_an_hour_is_left_out(void **state)
{
    (void)state;
    put(0, 50);
    put(SLOWEST_PERIOD_NS, 40);
    assert_int_equal(slowest_read(&slowest, (SLOWEST_PERIODS - 1) * SLOWEST_PERIOD_NS, found), 2);
    assert_int_equal(slowest_read(&slowest, SLOWEST_PERIODS * SLOWEST_PERIOD_NS, found), 1);
    assert_int_equal(found[0].all_ns, 40);
    put(SLOWEST_PERIODS * SLOWEST_PERIOD_NS, 30); /* in the place of the first period */
    assert_int_equal(slowest_read(&slowest, SLOWEST_PERIODS * SLOWEST_PERIOD_NS, found), 2);
    assert_int_equal(slowest_read(&slowest, 100 * SLOWEST_PERIOD_NS, found), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_slowest_of_a_period_are_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_no_slower_takes_no_lock, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_older_than_an_hour_is_left_out, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
