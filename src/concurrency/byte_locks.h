/* Byte-range locks of a file: which locks conflict, and which reads and writes they block. Pure;
 * compares single locks only, so that the holder of many can search them in its own way. source:
 * MS-FSA 2.1.4.10; Azure Files "Manage file locks"; semantics 8.1, 8.2. Thread-safe. */
#ifndef LAGRA_CONCURRENCY_BYTE_LOCKS_H
#define LAGRA_CONCURRENCY_BYTE_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
