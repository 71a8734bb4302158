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
 * What one commit writes beyond the size of a memtable is in no such bound: see COMMIT_COST in
 * admission.c. Folders whose tables were made beside a larger reserve are outside of it too, until
 * they have been compacted. tests/faults/small.mjs */
#ifndef LAGRA_STORE_EMBEDDED_SIZES_H
#define LAGRA_STORE_EMBEDDED_SIZES_H

#include <stddef.h>
#include <stdint.h>

#define SIZES_MEMTABLES      3
#define SIZES_LEVEL0_COMPACT 4
#define SIZES_LEVEL0_STOP    12

/* Less cannot hold what has its own size. */
#define SIZES_RESERVE_LEAST  (12ull << 20)
/* More than this makes no file larger. */
#define SIZES_RESERVE_USEFUL (640ull << 20)

struct sizes {
    size_t memtable;
    size_t level1;
    size_t table; /* of level 1, twice as much a level below */
    size_t compaction;
    size_t log_buffer;
    size_t manifest; /* set aside at once while it grows */
};

/* Of a reserve of so many bytes. Any thread. */
struct sizes sizes_of(uint64_t reserve);

#endif
