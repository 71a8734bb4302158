/* Sorted locks with Fenwick trees of the greatest end: see lock_sets.h. Two ranges overlap if each
 * starts before the other ends. So one of the locks that start before the wanted one ends overlaps
 * it if and only if their greatest end is after its start. */
#include "concurrency/lock_sets.h"

#include <assert.h>
#include <stdlib.h>

/* Returns true if `start` is before the end of the range, which may be 2^64. */
static bool starts_before_end(uint64_t start, const struct byte_range *other)
{
    return other->length > 0 ? start <= other->offset + (other->length - 1) : start < other->offset;
}

static bool ends_at_2_64(const struct byte_range *range)
{
    return range->length > 0 && range->offset + range->length == 0;
}

static bool ends_after(const struct byte_range *a, const struct byte_range *b)
{
    if (ends_at_2_64(a) || ends_at_2_64(b))
        return !ends_at_2_64(b);
    return a->offset + a->length > b->offset + b->length;
}

/* Up to this many locks are compared with all others, because sorting would take longer. */
#define FEW 4u

/* ---- conflicts ---- */

static int compare_starts(const void *left, const void *right)
{
    const struct byte_lock *a = ((const struct lock_set_entry *)left)->lock;
    const struct byte_lock *b = ((const struct lock_set_entry *)right)->lock;

    if (a->range.offset != b->range.offset)
        return a->range.offset < b->range.offset ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Returns the number of entries that start before the range ends. */
static size_t count_before_end(const struct lock_set_entry *set, size_t count,
                               const struct byte_range *range)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (starts_before_end(set[middle].lock->range.offset, range))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void keep_last(const struct byte_lock **last, const struct byte_lock *lock)
{
    if (!*last || ends_after(&lock->range, &(*last)->range))
        *last = lock;
}

static void insert(struct lock_set_entry *set, size_t count, struct byte_lock *lock, uint64_t owner)
{
    const struct lock_set_entry wanted = { .lock = lock };
    const struct lock_set_entry *at = bsearch(&wanted, set, count, sizeof *set, compare_starts);
    bool is_other = lock->is_exclusive && lock->owner != owner;

    assert(at);
    for (size_t i = (size_t)(at - set) + 1; i <= count; i += i & -i) {
        keep_last(&set[i - 1].all, lock);
        if (is_other)
            keep_last(&set[i - 1].others, lock);
    }
}

/* Returns true if an inserted lock conflicts with this one. */
static bool conflicts(const struct lock_set_entry *set, size_t count,
                      const struct byte_lock *wanted)
{
    for (size_t i = count_before_end(set, count, &wanted->range); i > 0; i -= i & -i) {
        const struct byte_lock *last = wanted->is_exclusive ? set[i - 1].all : set[i - 1].others;

        if (last && starts_before_end(wanted->range.offset, &last->range))
            return true;
    }
    return false;
}

static size_t conflict_of_few(const struct byte_lock *locks, size_t held, size_t count)
{
    for (size_t i = held; i < count; i++)
        for (size_t before = 0; before < i; before++)
            if (byte_lock_conflicts(&locks[before], &locks[i]))
                return i;
    return count;
}

size_t lock_set_conflict(struct byte_lock *locks, size_t held, size_t count,
                         struct lock_set_entry *space)
{
    assert(held <= count);
    if (count - held <= FEW)
        return conflict_of_few(locks, held, count);
    for (size_t i = 0; i < count; i++)
        space[i] = (struct lock_set_entry){ .lock = &locks[i] };
    qsort(space, count, sizeof *space, compare_starts);
    for (size_t i = 0; i < count; i++) {
        assert(i <= held || locks[i].owner == locks[held].owner);
        if (i >= held && conflicts(space, count, &locks[i]))
            return i;
        insert(space, count, &locks[i], held < count ? locks[held].owner : NO_OWNER);
    }
    return count;
}

/* ---- releases ---- */

static int compare_ranges(const struct byte_range *a, const struct byte_range *b)
{
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return a->length < b->length ? -1 : a->length > b->length;
}

/* Orders by range, equal ranges by the order of release. */
static int compare_releases(const void *left, const void *right)
{
    const struct byte_lock *a = ((const struct lock_set_entry *)left)->lock;
    const struct byte_lock *b = ((const struct lock_set_entry *)right)->lock;
    int order = compare_ranges(&a->range, &b->range);

    if (order != 0)
        return order;
    if (a->is_exclusive != b->is_exclusive)
        return a->is_exclusive ? -1 : 1;
    return a > b ? -1 : a < b;
}

static struct byte_lock *next_of_range(struct lock_set_entry *set, size_t count,
                                       const struct byte_range *range)
{
    size_t low = 0, high = count, at;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare_ranges(&set[middle].lock->range, range) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == count || compare_ranges(&set[low].lock->range, range) != 0)
        return NULL;
    at = low + set[low].released++;
    if (at == count || compare_ranges(&set[at].lock->range, range) != 0)
        return NULL;
    return set[at].lock;
}

/* Returns the newest lock with exactly that range, preferring an exclusive one to shared ones over
 * it, or NULL. */
static struct byte_lock *find_lock(struct byte_lock *locks, size_t count, uint64_t owner,
                                   const struct byte_range *range)
{
    struct byte_lock *found = NULL;

    for (size_t i = count; i-- > 0;) {
        struct byte_lock *lock = &locks[i];

        if (lock->owner != owner || compare_ranges(&lock->range, range) != 0)
            continue;
        if (lock->is_exclusive)
            return lock;
        if (!found)
            found = lock;
    }
    return found;
}

size_t lock_set_release(struct byte_lock *locks, size_t *count, uint64_t owner,
                        const struct byte_range *ranges, size_t range_count,
                        struct lock_set_entry *space)
{
    size_t own = 0, kept = 0, released = 0;

    assert(owner != NO_OWNER);
    for (size_t i = 0; i < *count && range_count > FEW; i++)
        if (locks[i].owner == owner)
            space[own++] = (struct lock_set_entry){ .lock = &locks[i] };
    qsort(space, own, sizeof *space, compare_releases);
    for (; released < range_count; released++) {
        struct byte_lock *lock = range_count > FEW
                                     ? next_of_range(space, own, &ranges[released])
                                     : find_lock(locks, *count, owner, &ranges[released]);

        if (!lock)
            break;
        lock->owner = NO_OWNER;
    }
    for (size_t i = 0; i < *count; i++)
        if (locks[i].owner != NO_OWNER)
            locks[kept++] = locks[i];
    *count = kept;
    return released;
}

/* ---- byte locks ---- */

bool byte_range_is_valid(const struct byte_range *range)
{
    return range->length == 0 || range->length - 1 <= UINT64_MAX - range->offset;
}

/* Avoids computing offset + length, which may be 2^64. */
static bool ends_before(const struct byte_range *a, const struct byte_range *b)
{
    return a->offset <= b->offset && a->length <= b->offset - a->offset;
}

static bool overlap(const struct byte_range *a, const struct byte_range *b)
{
    return !ends_before(a, b) && !ends_before(b, a);
}

bool byte_lock_conflicts(const struct byte_lock *held, const struct byte_lock *wanted)
{
    bool bars = wanted->is_exclusive || (held->is_exclusive && held->owner != wanted->owner);

    return bars && overlap(&held->range, &wanted->range);
}

bool byte_lock_bars_read(const struct byte_lock *held, uint64_t owner,
                         const struct byte_range *range)
{
    return held->is_exclusive && held->owner != owner && range->length > 0 &&
           overlap(&held->range, range);
}

bool byte_lock_bars_write(const struct byte_lock *held, uint64_t owner,
                          const struct byte_range *range)
{
    return (!held->is_exclusive || held->owner != owner) && range->length > 0 &&
           overlap(&held->range, range);
}
