/* Sets of byte-range locks of a file: many are acquired or released in n log n steps, with the same result as one after
 * another (byte_locks.h). Pure; the caller provides the memory. decision: 973 */
#ifndef LAGRA_CONCURRENCY_LOCK_SETS_H
#define LAGRA_CONCURRENCY_LOCK_SETS_H

#include <stddef.h>

#include "concurrency/byte_locks.h"

/* Memory for one lock of a set. */
struct lock_set_entry {
    struct byte_lock *lock; /* by place */
    /* The lock that ends last below this node of a Fenwick tree, among all and among exclusive ones of other owners, or
     * NULL. */
    const struct byte_lock *all, *others;
    size_t released; /* at the first of equal ranges: how many of them are */
};

/* locks[0..held) are held; locks[held..count), of one owner, will be acquired in their order, each next to those
 * before it. Returns the index of the first that conflicts with one before it, or `count` if none does.
 * space: for `count` entries */
size_t lock_set_conflict(struct byte_lock *locks, size_t held, size_t count,
                         struct lock_set_entry *space);

/* Releases for each range the newest lock of exactly that range that the owner has, an exclusive one before the shared
 * ones over it, and removes it from locks[0..*count). Returns how many ranges had such a lock: it ends at the first that
 * has none. MS-FSA 2.1.5.8
 * space: for *count entries */
size_t lock_set_release(struct byte_lock *locks, size_t *count, uint64_t owner,
                        const struct byte_range *ranges, size_t range_count,
                        struct lock_set_entry *space);

#endif
