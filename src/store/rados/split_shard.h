/* Splitting one shard: its last partitions move to new ones, until it has half of what it may have (move.h). */
#ifndef LAGRA_STORE_RADOS_SPLIT_SHARD_H
#define LAGRA_STORE_RADOS_SPLIT_SHARD_H

#include "store/rados/shards.h"

/* Of one move, unless that is one partition. */
#define SPLIT_MOVE_ROWS       1500u
/* Of a partition that is moved: while it is, nobody writes to it. A larger one stays, and all before it. */
#define SPLIT_PARTITION_ROWS  131072u
#define SPLIT_PARTITION_BYTES (64u << 20)
/* Up to so much moves whatever else its shard has; more, where rows of indexes, and tasks, are not too many: the last op of a
 * move names those that go along. */
#define SPLIT_SMALL_ROWS      16384u
#define SPLIT_SMALL_BYTES     (16u << 20)
#define SPLIT_SCATTERED_ROWS  131072u
#define SPLIT_SCATTERED_BYTES (32u << 20)

/* Counts a shard, and splits it if it has more. Before that, if it has more than cut_rows, and more than half of that are of
 * one partition, rows of it go to limbs (limb_cut.h); 0: they never do. The same of a limb. It waits for the cluster. False: it
 * could not be done as a whole, also because another front end was faster. */
bool split_shard(struct shards *shards, const char *object, uint32_t rows, uint32_t cut_rows);

#endif
