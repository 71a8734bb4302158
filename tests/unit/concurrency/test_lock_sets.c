/* Many locks at once: the result is that of one after another, over random sets. decision: 973 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "concurrency/lock_sets.h"

#define LOCKS  24u
#define ROUNDS 100000

/* xorshift */
static unsigned drawn(unsigned below)
{
    static uint64_t x = 88172645463325252u;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return (unsigned)(x >> 32) % below;
}

static struct byte_range draw_range(void)
{
    struct byte_range range = { drawn(30), drawn(4) };

    if (drawn(10) == 0) /* at the end of 64 bits */
        range = (struct byte_range){ UINT64_MAX - drawn(4), drawn(2) };
    if (drawn(20) == 0)
        range = (struct byte_range){ 0, UINT64_MAX };
    return range;
}

static size_t draw_locks(struct byte_lock locks[LOCKS], size_t *ret_held)
{
    size_t count = 0, all = drawn(LOCKS + 1);

    *ret_held = drawn((unsigned)all + 1);
    for (size_t i = 0; i < all; i++) {
        struct byte_lock lock = { draw_range(), i < *ret_held ? 1 + drawn(3) : 1, drawn(8) == 0 };

        locks[count++] = lock;
    }
    return count;
}

static size_t conflict_one_by_one(const struct byte_lock *locks, size_t held, size_t count)
{
    for (size_t i = held; i < count; i++)
        for (size_t before = 0; before < i; before++)
            if (byte_lock_conflicts(&locks[before], &locks[i]))
                return i;
    return count;
}

static void conflicts(void **state)
{
    struct byte_lock locks[LOCKS];
    struct lock_set_entry space[LOCKS];

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        size_t held, count = draw_locks(locks, &held);

        assert_int_equal(lock_set_conflict(locks, held, count, space),
                         conflict_one_by_one(locks, held, count));
    }
}

static bool release_one(struct byte_lock *locks, size_t *count, const struct byte_range *range)
{
    size_t found = *count;

    for (size_t i = *count; i-- > 0;)
        if (locks[i].owner == 1 && locks[i].range.offset == range->offset &&
            locks[i].range.length == range->length &&
            (found == *count || (locks[i].is_exclusive && !locks[found].is_exclusive)))
            found = i;
    if (found == *count)
        return false;
    memmove(&locks[found], &locks[found + 1], (--*count - found) * sizeof *locks);
    return true;
}

static void releases(void **state)
{
    struct byte_lock locks[LOCKS], others[LOCKS];
    struct byte_range ranges[LOCKS];
    struct lock_set_entry space[LOCKS];

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        size_t held, count = draw_locks(locks, &held), other_count = count, wanted = drawn(LOCKS);
        size_t released = 0;

        for (size_t i = 0; i < wanted; i++)
            ranges[i] =
                count > 0 && drawn(30) > 0 ? locks[drawn((unsigned)count)].range : draw_range();
        if (count > 0)
            memcpy(others, locks, count * sizeof *locks);
        while (released < wanted && release_one(others, &other_count, &ranges[released]))
            released++;
        assert_int_equal(lock_set_release(locks, &count, 1, ranges, wanted, space), released);
        assert_int_equal(count, other_count);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(locks[i].range.offset, others[i].range.offset);
            assert_int_equal(locks[i].range.length, others[i].range.length);
            assert_int_equal(locks[i].owner, others[i].owner);
            assert_int_equal(locks[i].is_exclusive, others[i].is_exclusive);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conflicts),
        cmocka_unit_test(releases),
    };

    return cmocka_run_group_tests_name("lock_sets", tests, NULL, NULL);
}
