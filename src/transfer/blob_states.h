/* Internal to transfer/. Snapshots and versions of one blob, and the blob itself, in the order in which a source lists them:
 * services differ in whether the blob comes first or last, and a page may repeat what the one before had. */
#ifndef LAGRA_TRANSFER_BLOB_STATES_H
#define LAGRA_TRANSFER_BLOB_STATES_H

#include "transfer/item.h"

struct blob_states {
    struct item *first, *last; /* linked by next */
    uint64_t count;
};

/* The item becomes the collection's. */
void blob_states_add(struct blob_states *states, struct item *item);
/* Returns the states as one item: oldest first, each once, the blob itself last. NULL if the blob itself is not among them.
 * The collection is not used afterwards. */
struct item *blob_states_order(struct blob_states *states, struct arena *arena);

#endif
