/* Sets of byte-range locks of a file: acquires or releases many in O(n log n), with the same result
 * as one by one (byte_locks.h). Pure; the caller provides the memory. decision: 973 */
#ifndef LAGRA_CONCURRENCY_LOCK_SETS_H
#define LAGRA_CONCURRENCY_LOCK_SETS_H

#include <stddef.h>

#include "concurrency/byte_locks.h"

/* Memory for one lock of a set. */
struct lock_set_entry {
    struct byte_lock *lock; /* sorted by position */
    /* lock with the greatest end among those covered by this node of the Fenwick tree, among all
     * locks and among exclusive locks of other owners, or NULL */
    const struct byte_lock *all, *others;
    size_t released; /* in the first entry of equal ranges: how many of them are released */
};

/* locks[0..held) are held; locks[held..count), of one owner, are to be acquired in order. Returns
 * the index of the first that conflicts with an earlier one, or `count` if none does. space:
 * `count` entries */
size_t lock_set_conflict(struct byte_lock *locks, size_t held, size_t count,
                         struct lock_set_entry *space);

/* Releases, for each range, the owner's newest lock with exactly that range, preferring an
 * exclusive one to shared ones over it, and removes it from locks[0..*count). Stops at the first
 * range without such a lock, and returns the number of ranges before it. MS-FSA 2.1.5.8 space:
 * *count entries */
size_t lock_set_release(struct byte_lock *locks, size_t *count, uint64_t owner,
                        const struct byte_range *ranges, size_t range_count,
                        struct lock_set_entry *space);

#endif
