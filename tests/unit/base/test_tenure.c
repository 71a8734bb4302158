/* Errors that the holder of a tenure may report. base/tenure.h */
#include "base/tenure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct woken {
    struct waiter waiter;
    unsigned count;
};

static void wake(struct waiter *waiter)
{
    ((struct woken *)(void *)waiter)->count++;
}

/* Rule: without a tenure nobody else can have the data. */
static void confirms_without_a_tenure(void **state)
{
    struct woken w = { .waiter = { .wake = wake } };

    (void)state;
    assert_true(tenure_confirms(NULL, UINT64_MAX - 1, &w.waiter));
    assert_int_equal(w.count, 0);
}

/* Rule: an error is confirmed only by a renewal that started after it. */
static void confirms_after_a_later_renewal(void **state)
{
    struct woken w = { .waiter = { .wake = wake } };
    struct tenure tenure;

    (void)state;
    tenure_start(&tenure, 100, 3100);
    assert_true(tenure_confirms(&tenure, 99, &w.waiter));
    assert_false(tenure_confirms(&tenure, 200, &w.waiter));
    tenure_renew(&tenure, 200, 3200); /* started at the same time: it may have been before */
    assert_int_equal(w.count, 1);
    assert_false(tenure_confirms(&tenure, 200, &w.waiter));
    tenure_renew(&tenure, 201, 3201);
    assert_int_equal(w.count, 2);
    assert_true(tenure_confirms(&tenure, 200, &w.waiter));
    tenure_give_up(&tenure);
}

/* Rule: a holder that has lost its data confirms nothing; one that gives it up wakes all waiters. */
static void never_confirms_after_a_loss(void **state)
{
    struct woken some[3] = { { .waiter = { .wake = wake } },
                             { .waiter = { .wake = wake } },
                             { .waiter = { .wake = wake } } };
    struct tenure tenure;

    (void)state;
    tenure_start(&tenure, clock_boot_ns(), clock_boot_ns() + 60000 * NS_PER_MS);
    assert_true(tenure_holds(&tenure));
    for (unsigned i = 0; i < 3; i++)
        assert_false(tenure_confirms(&tenure, clock_boot_ns(), &some[i].waiter));
    tenure_lose(&tenure);
    assert_false(tenure_holds(&tenure));
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(some[i].count, 0);
    tenure_give_up(&tenure);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(some[i].count, 1);
    assert_false(tenure_holds(&tenure));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(confirms_without_a_tenure),
        cmocka_unit_test(confirms_after_a_later_renewal),
        cmocka_unit_test(never_confirms_after_a_loss),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
