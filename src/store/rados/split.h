/* Shards that have become large are split: their last partitions move to new ones (move.h).
 *
 * How many rows a shard has is not kept: a row that is written may have been there before. Of the rows that this front end
 * writes, one is drawn now and then, so that a shard is counted once for half as many as it may have, whoever writes
 * them and however many shards there are; one that has too many is split until it has half as many. Decision 760. */
#ifndef LAGRA_STORE_RADOS_SPLIT_H
#define LAGRA_STORE_RADOS_SPLIT_H

#include "store/rados/shards.h"

struct beat;
struct splits;
/* rows: a shard may have; cut_rows: before its partitions get limbs (split_shard.h). beat: says by which format. NULL: a thread cannot be started. */
struct splits *splits_start(struct shards *shards, struct beat *beat, uint32_t rows,
                            uint32_t cut_rows);
/* Nothing may be under way that writes to shards. NULL: nothing. */
void splits_stop(struct splits *splits);
/* After that; nothing writes to shards any more. */
void splits_free(struct splits *splits);

#endif
