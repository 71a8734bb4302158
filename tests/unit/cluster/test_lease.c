/* Leases on cells: cluster/lease.h. Two machines answer for one cell at no instant, whatever their clocks show, and an
 * owner that renews is never thought silent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "cluster/lease.h"

#define MS NS_PER_MS

static struct owner_record held(uint64_t renewal)
{
    struct owner_record record;

    memset(&record, 0, sizeof record);
    record.cell = 1;
    record.incarnation = 1;
    record.renewal = renewal;
    record.is_held = true;
    record.lease_ms = LEASE_MS;
    return record;
}

/* A renewal is begun, written, and seen by reads of another machine, whose clock shows any other time; then that machine
 * gets the lock and reads again. All orders that can be, in steps of half a second. Times are the owner's. */
static void never_two(void **state)
{
    const uint64_t step = 500 * MS, last = 12;
    const uint64_t offsets[] = { 0, 5 * MS, UINT64_C(1) << 50 };
    uint64_t cases = 0;

    (void)state;
    for (uint64_t began = 0; began <= last; began++)
        for (uint64_t written = began; written <= last; written++)
            for (uint64_t asked = 0; asked <= last; asked++)
                for (uint64_t answered = asked; answered <= last; answered++)
                    for (uint64_t locked = answered; locked <= last + 1; locked++)
                        for (unsigned o = 0; o < 3; o++) {
                            struct lease_watch watch = { .has_record = false };
                            struct owner_record before = held(1), after = held(2);
                            uint64_t offset = offsets[o], ends;
                            /* A read shows a write that was done when it began; one that overlaps may. */
                            bool shows = written <= asked;

                            if (locked < written)
                                continue; /* it could not be written any more */
                            lease_watch_saw(&watch, shows ? &after : &before, asked * step + offset,
                                            answered * step + offset);
                            lease_watch_saw(&watch, &after, locked * step + offset,
                                            locked * step + offset);
                            ends = lease_watch_ends(&watch);
                            assert_true(ends - offset >= began * step + LEASE_MS * MS);
                            /* And it is not waited for longer than from when the lock was had. */
                            assert_true(ends - offset <=
                                        locked * step + (LEASE_MS + LEASE_MARGIN_MS) * MS);
                            cases++;
                        }
    assert_true(cases > 10000);
}

/* One that renews each second is not silent, however long reads take; one that does not is, once a read was begun after
 * the end of its lease, and not before: a reader that was stopped, or whose file system hangs, accuses nobody. */
static void silence(void **state)
{
    struct lease_watch watch = { .has_record = false };
    struct owner_record record = held(1);
    uint64_t now = 1000 * MS;

    (void)state;
    assert_false(lease_watch_is_silent(&watch));
    for (unsigned i = 0; i < 100; i++, now += LEASE_RENEW_MS * MS) {
        record.renewal++;
        lease_watch_saw(&watch, &record, now, now + (i % 7) * 100 * MS);
        assert_false(lease_watch_is_silent(&watch));
    }
    now = watch.changed_ns;
    lease_watch_saw(&watch, &record, now + 1, now + 100000 * MS); /* it took very long */
    assert_false(lease_watch_is_silent(&watch));
    lease_watch_saw(&watch, &record, now + (LEASE_MS + LEASE_MARGIN_MS) * MS, now + 100000 * MS);
    assert_false(lease_watch_is_silent(&watch));
    lease_watch_saw(&watch, &record, now + (LEASE_MS + LEASE_MARGIN_MS) * MS + 1,
                    now + 100000 * MS);
    assert_true(lease_watch_is_silent(&watch));
    record.renewal++;
    lease_watch_saw(&watch, &record, now + 100000 * MS, now + 100001 * MS);
    assert_false(lease_watch_is_silent(&watch));
}

/* A cell that was given up may be served at once, and its owner is not silent. */
static void given_up(void **state)
{
    struct lease_watch watch = { .has_record = false };
    struct owner_record record = held(1);

    (void)state;
    lease_watch_saw(&watch, &record, 1, 1);
    assert_true(lease_watch_ends(&watch) > 0);
    record.renewal++;
    record.is_held = false;
    lease_watch_saw(&watch, &record, 2, 2);
    assert_int_equal(lease_watch_ends(&watch), 0);
    lease_watch_saw(&watch, &record, UINT64_MAX / 2, UINT64_MAX / 2);
    assert_false(lease_watch_is_silent(&watch));
}

/* While the newer slot is being written, the older record may be read: it is not a change. */
static void older(void **state)
{
    struct lease_watch watch = { .has_record = false };
    struct owner_record record = held(9), before = held(8);

    (void)state;
    lease_watch_saw(&watch, &record, 10, 10);
    lease_watch_saw(&watch, &before, 20, 20);
    assert_int_equal(watch.record.renewal, 9);
    assert_int_equal(watch.changed_ns, 10);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_two),
        cmocka_unit_test(silence),
        cmocka_unit_test(given_up),
        cmocka_unit_test(older),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
