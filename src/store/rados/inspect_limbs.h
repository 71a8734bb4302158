/* For lagra check: limbs (limb.h), looked at from where they are listed, and those that are in no list. It waits for the
 * cluster. */
#ifndef LAGRA_STORE_RADOS_INSPECT_LIMBS_H
#define LAGRA_STORE_RADOS_INSPECT_LIMBS_H

#include "store/inspect.h"
#include "store/rados/limb.h"
#include "store/rados/shards.h"

struct limb_names {
    struct guid *all; /* on the heap */
    size_t count, capacity;
};

/* Of one inspection. */
struct limb_lists {
    struct limb_names listed, found; /* those that were found have records */
};
void limb_lists_release(struct limb_lists *lists);

/* Is the shard a limb? */
bool limb_note(struct shards *shards, const char *object, struct limb_lists *lists);

/* Of each record of a limb, and each task that lies there. */
typedef void limb_visit(void *context, const struct row_name *name, const struct port_row *row,
                        struct arena *arena);
/* Visits the rows of a limb that ends at a row of its home, whose name is that. Returns what is wrong with it, static; NULL:
 * nothing. */
const char *limb_inspect(struct shards *shards, const struct port_row *end,
                         const struct row_name *name, struct limb_lists *lists, limb_visit *visit,
                         void *context);
/* After all: says which limbs have records and are in no list. */
void limbs_unlisted(const struct limb_lists *lists, inspect_say *say, void *context);

#endif
