/* How large RocksDB's files may become. They follow the reserve of the disk (disk_space.h), so that
 * what RocksDB still has to write when nothing that grows is admitted any longer finds its room there:
 * deletes go through whatever the size of the disk.
 *
 * With B bytes of a memtable, what may come on top of what the disk holds then is at most
 *
 *    3 B   flushes of all memtables (SIZES_MEMTABLES), whose logs go only after them
 *    3 B   the logs of what deletes write meanwhile, until RocksDB has them wait
 *   28 B   the largest compaction, one at a time, whose inputs go only after it: all of level 0 into
 *          level 1. Level 0 has at most SIZES_LEVEL0_STOP tables of a memtable each, and two more that
 *          were full by then: 14 B. Level 1 is no larger than that: RocksDB compacts the level that
 *          exceeds its size by the higher factor, 4 tables of B here and 4 B there. Deeper compactions
 *          are smaller: a table of 2 B with what it overlaps, which max_compaction_bytes keeps at 8 B
 *          and two tables, of 4 B (the third level of a disk of less than four reserves is its last).
 *   34 B   in all. A reserve is 40 B. The other 6 B, 1.8 MiB of the smallest reserve, are for what has
 *          its own size: zeros ahead of the log, its buffer, MANIFEST and its copy, RocksDB's own log,
 *          the file system's blocks.
 *
 * Where more than eight reserves are free, compactions are larger and fewer: of records that are replaced in no order, level 1
 * is what each compaction of level 0 writes anew. Level 0 has 18 B then at most, level 1 16 B for each 8 tables of level
 * 0, 36 B, and the largest compaction 54 B. Once less than six reserves are free it is as above, before anything is refused:
 * a level 1 of more than 14 B exceeds its size by more than level 0 can, so it is what RocksDB compacts first.
 *
 * What one commit writes beyond the size of a memtable is in no such bound: see COMMIT_COST in
 * admission.c. Folders whose tables were made beside a larger reserve are outside of it too, until
 * they have been compacted. tests/faults/small.mjs */
#ifndef LAGRA_STORE_EMBEDDED_SIZES_H
#define LAGRA_STORE_EMBEDDED_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIZES_MEMTABLES      3

/* Multiples of the reserve: at the first many free bytes compactions become larger, below the
 * second they become smaller again. */
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
 * (disk_space_is_roomy()). Any thread. */
struct sizes sizes_of(uint64_t reserve, bool is_roomy);

/* The maximum number of file descriptors of a store with few extents: for callers that need it
 * before the store is open. */
#define EMBEDDED_DESCRIPTORS_MAX 512u

#endif
