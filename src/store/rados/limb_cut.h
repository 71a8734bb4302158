/* Rows of a large partition go into limbs (limb.h), some at once: from home to a limb, or from one that has become large to
 * another. Each time is a commit over the home and these, which the home decides: where another was faster it is refused,
 * and tried again with half as many. It waits for the cluster. */
#ifndef LAGRA_STORE_RADOS_LIMB_CUT_H
#define LAGRA_STORE_RADOS_LIMB_CUT_H

#include "store/rados/shards.h"

/* Of one commit. */
#define LIMB_CUT_ROWS  1000u
#define LIMB_CUT_BYTES (1u << 20)
/* One after the other that were refused. */
#define LIMB_TRIES_MAX 16u
#define LIMB_PAUSE_MS  5u

/* Until the partition has half of what a shard may have, or it can be done no more now, or the store is closed. kind: of rows, 'L' or 'P'. True: some
 * rows have gone. */
bool limbs_cut(struct shards *shards, const char *object, char kind, struct bytes partition_key,
               uint32_t rows);

/* A limb that has no rows any longer is listed no longer, and dropped as a space is. row: where it ends, at home, as it was
 * read some time ago. */
void limb_forget_empty(struct shards *shards, const char *object, const struct port_row *row);

#endif
