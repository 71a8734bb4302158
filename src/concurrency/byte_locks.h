/* Byte-range locks of a file: which two cannot both be, and what a read or write may touch. Pure;
 * pairs alone, so that the holder of many finds those that concern a range in its own way.
 * source: MS-FSA 2.1.4.10; Azure Files "Manage file locks"; semantics 8.1, 8.2. Any thread. */
#ifndef LAGRA_CONCURRENCY_BYTE_LOCKS_H
#define LAGRA_CONCURRENCY_BYTE_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of a file: from offset, length of them. May end at 2^64, and be of length 0. */
struct byte_range {
    uint64_t offset, length;
};

/* False: the range ends beyond 2^64, as none may. MS-SMB2 3.3.5.14 */
bool byte_range_is_valid(const struct byte_range *range);

struct byte_lock {
    struct byte_range range;
    uint64_t owner; /* id of the open that has it; none is 0 */
    bool is_exclusive;
};

/* No open: what the File REST API reads and writes with. */
#define NO_OWNER 0

/* May `wanted` not be taken because of `held`? An exclusive one stands beside none, not even of its own open; a
 * shared one may be taken over its open's own exclusive one. A lock of length 0 stands between two bytes, and
 * conflicts only where another one has both of them. MS-FSA 2.1.5.7 */
bool byte_lock_conflicts(const struct byte_lock *held, const struct byte_lock *wanted);

/* Does `held` keep this open from reading, or writing, that range? An exclusive lock keeps all others
 * from both; a shared one keeps everybody from writing, its owner too. Nothing keeps anybody from a
 * range of length 0. */
bool byte_lock_bars_read(const struct byte_lock *held, uint64_t owner,
                         const struct byte_range *range);
bool byte_lock_bars_write(const struct byte_lock *held, uint64_t owner,
                          const struct byte_range *range);

#endif
