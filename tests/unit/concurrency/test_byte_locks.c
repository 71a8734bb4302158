/* Byte-range locks: every pair of small ranges against sets of bytes, and the end of 64 bits.
 * MS-FSA 2.1.4.10 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "concurrency/lock_sets.h"

#define BYTES 7

/* Have both a byte in common, or does one that has none stand between two bytes of the other? */
static bool meet(const struct byte_range *a, const struct byte_range *b)
{
    for (uint64_t i = 0; i < 2 * BYTES; i++)
        if (i - a->offset < a->length && i - b->offset < b->length)
            return true;
    if (a->length == 0)
        return a->offset > b->offset && a->offset < b->offset + b->length;
    return b->length == 0 && b->offset > a->offset && b->offset < a->offset + a->length;
}

static void check_pair(const struct byte_range *a, const struct byte_range *b)
{
    for (unsigned kinds = 0; kinds < 8; kinds++) {
        uint64_t other = kinds & 4 ? 1 : 2;
        struct byte_lock held = { .range = *a, .owner = 1, .is_exclusive = kinds & 1 };
        struct byte_lock wanted = { .range = *b, .owner = other, .is_exclusive = kinds & 2 };
        bool met = meet(a, b);
        bool own = other == 1;

        assert_int_equal(byte_lock_conflicts(&held, &wanted),
                         met && (wanted.is_exclusive || (held.is_exclusive && !own)));
        met = met && b->length > 0;
        assert_int_equal(byte_lock_bars_read(&held, 1, b), false);
        assert_int_equal(byte_lock_bars_read(&held, NO_OWNER, b), met && held.is_exclusive);
        assert_int_equal(byte_lock_bars_write(&held, 1, b), met && !held.is_exclusive);
        assert_int_equal(byte_lock_bars_write(&held, NO_OWNER, b), met);
    }
}

static void all_small_pairs(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < BYTES * BYTES * BYTES * BYTES; i++) {
        struct byte_range a = { i % BYTES, i / BYTES % BYTES };
        struct byte_range b = { i / BYTES / BYTES % BYTES, i / BYTES / BYTES / BYTES };

        check_pair(&a, &b);
    }
}

static void ranges_end_at_most_at_2_64(void **state)
{
    struct byte_range last = { UINT64_MAX, 1 }, beyond = { UINT64_MAX, 2 };
    struct byte_range all = { 0, UINT64_MAX }, more = { 1, UINT64_MAX },
                      too_far = { 2, UINT64_MAX };
    struct byte_range empty = { UINT64_MAX, 0 };
    struct byte_lock at_end = { .range = last, .owner = 1, .is_exclusive = true };
    struct byte_lock whole = { .range = more, .owner = 2, .is_exclusive = true };

    (void)state;
    assert_true(byte_range_is_valid(&last));
    assert_false(byte_range_is_valid(&beyond));
    assert_true(byte_range_is_valid(&all));
    assert_true(byte_range_is_valid(&more));
    assert_false(byte_range_is_valid(&too_far));
    assert_true(byte_range_is_valid(&empty));
    assert_true(byte_lock_conflicts(&at_end, &whole));
    whole.range = all; /* ends at 2^64 - 1, just before */
    assert_false(byte_lock_conflicts(&at_end, &whole));
    assert_true(byte_lock_bars_read(&at_end, 2, &last));
    assert_false(byte_lock_bars_read(&at_end, 2, &empty));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_small_pairs),
        cmocka_unit_test(ranges_end_at_most_at_2_64),
    };

    return cmocka_run_group_tests_name("byte_locks", tests, NULL, NULL);
}
