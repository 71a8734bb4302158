/* The sizes of RocksDB's files. They depend on the reserve of the disk (disk_space.h), so that
 * everything RocksDB still has to write once growth is refused fits into it. Deletes therefore
 * succeed on a disk of any size.
 *
 * With B bytes per memtable, what can be written in addition then is at most
 *
 *    3 B   flushes of all memtables (SIZES_MEMTABLES), whose logs are deleted only after them
 *    3 B   the logs of deletes in the meantime, until RocksDB makes them wait
 *   28 B   the largest compaction, one at a time, whose inputs are deleted only after it: all of
 *          level 0 into level 1. Level 0 has at most SIZES_LEVEL0_STOP tables of a memtable, and
 *          two more that were full by then: 14 B. Level 1 is no larger than that: RocksDB compacts
 *          the level that exceeds its size by the higher factor, 4 tables of B here and 4 B there.
 *          Deeper compactions are smaller: a table of 2 B with what it overlaps, which
 *          max_compaction_bytes keeps at 8 B and two tables, of 4 B (the third level of a disk of
 *          less than four reserves is its last).
 *   34 B   in all. A reserve is 40 B. The other 6 B, 1.8 MiB of the smallest reserve, are for parts
 *          of fixed size: zeros ahead of the log, its buffer, MANIFEST and its copy, RocksDB's own
 *          log, the file system's blocks.
 *
 * While more than eight reserves are free, compactions are larger and fewer: if records are
 * replaced in random order, each compaction of level 0 rewrites level 1. Level 0 then has at most
 * 18 B, level 1 16 B for each 8 tables of level 0, 36 B, and the largest compaction 54 B. Once less
 * than six reserves are free the limits are as above, before anything is refused: a level 1 of more
 * than 14 B exceeds its size by more than level 0 can, so RocksDB compacts it first.
 *
 * These limits do not cover what one commit writes beyond the size of a memtable: see COMMIT_COST
 * in admission.c. Nor do they cover folders whose tables were created with a larger reserve, until
 * these have been compacted. tests/faults/small.mjs */
#ifndef LAGRA_STORE_EMBEDDED_SIZES_H
#define LAGRA_STORE_EMBEDDED_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIZES_MEMTABLES      3

/* Multiples of the reserve: compactions become larger when more than the first is free, and smaller
 * again when less than the second is free. */
#define SIZES_ROOMY_FROM     8
#define SIZES_ROOMY_UNTIL    6

/* A smaller reserve cannot hold the parts of fixed size. */
#define SIZES_RESERVE_LEAST  (12ull << 20)
/* A larger reserve makes no file larger. */
#define SIZES_RESERVE_USEFUL (640ull << 20)

struct sizes {
    size_t memtable;
    int level0_compact; /* number of tables of level 0 that triggers a compaction */
    int level0_stop;    /* and at which commits wait */
    size_t level1;
    size_t table; /* of level 1; twice as much per deeper level */
    size_t compaction;
    size_t log_buffer;
    size_t manifest; /* allocated in advance while it grows */
};

/* Returns the sizes for a reserve of this many bytes. is_roomy: several times the reserve are free
 * (disk_space_is_roomy()). Thread-safe. */
struct sizes sizes_of(uint64_t reserve, bool is_roomy);

/* The maximum number of file descriptors of a store with few extents: for callers that need it
 * before the store is open. */
#define EMBEDDED_DESCRIPTORS_MAX 512u

#endif
