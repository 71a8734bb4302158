/* Which rows of a large partition go into a limb next. It waits for the cluster. */
#ifndef LAGRA_STORE_RADOS_LIMB_PLAN_H
#define LAGRA_STORE_RADOS_LIMB_PLAN_H

#include "store/rados/limb.h"
#include "store/rados/shards.h"

struct limb_plan {
    struct partition home; /* its key in the arena */
    enum record_family family;
    bool is_limb;        /* they lie in a limb, else at home */
    struct bytes prefix; /* of keys of all such rows */
    struct bytes behind; /* those behind this one, in the arena; empty: from the first on */
    uint64_t weight;     /* so many (limb_row_weight()) */
};

/* For so many rows counts one, since all that may be large is its bytes. */
uint64_t limb_row_weight(const struct port_row *row);

/* object: a shard, or a limb. kind: of rows, 'L' or 'P'. rows: that a shard may have; of a partition more than half of them
 * are cut. At home the first rows and the last stay: a queue is changed there. Of rows between two limbs all go; of a limb's
 * own, the first half. False: there are none, or they cannot be read. */
bool limb_plan(struct shards *shards, const char *object, char kind, struct bytes partition_key,
               uint32_t rows, struct arena *arena, struct limb_plan *ret_plan);

#endif
