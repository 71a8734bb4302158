/* Sets of byte-range locks of a file: acquires or releases many in O(n log n), with the same result
 * as doing so one by one. Pure; the caller provides the memory. decision: 973 */
#ifndef LAGRA_CONCURRENCY_LOCK_SETS_H
#define LAGRA_CONCURRENCY_LOCK_SETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Byte-range locks of a file: which locks conflict, and which reads and writes they block. Pure;
 * compares single locks only, so that the holder of many can search them in its own way. source:
 * MS-FSA 2.1.4.10; Azure Files "Manage file locks"; semantics 8.1, 8.2. Thread-safe. */

/* A range of a file. May end at 2^64, and have length 0. */
struct byte_range {
    uint64_t offset, length;
};

/* Returns false if the range ends beyond 2^64. MS-SMB2 3.3.5.14 */
bool byte_range_is_valid(const struct byte_range *range);

struct byte_lock {
    struct byte_range range;
    uint64_t owner; /* id of the open that holds it; never 0 */
    bool is_exclusive;
};

/* Owner of reads and writes by the File REST API, which have no open. */
#define NO_OWNER 0

/* Returns true if `held` blocks `wanted`. An exclusive lock conflicts with any overlapping lock,
 * even of its own open; a shared lock may overlap its open's own exclusive one. A lock of length 0
 * is between two bytes and conflicts only with a lock that contains both. MS-FSA 2.1.5.7 */
bool byte_lock_conflicts(const struct byte_lock *held, const struct byte_lock *wanted);

/* Return true if `held` blocks a read or write of the range by `owner`. An exclusive lock blocks
 * reads and writes of all others; a shared lock blocks all writes, its owner's too. A range of
 * length 0 is never blocked. */
bool byte_lock_bars_read(const struct byte_lock *held, uint64_t owner,
                         const struct byte_range *range);
bool byte_lock_bars_write(const struct byte_lock *held, uint64_t owner,
                          const struct byte_range *range);

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
