/* Internal to transfer/. Orders a blob with its snapshots and versions, in whatever order a source
 * lists them: services differ in whether the blob comes first or last, and pages may overlap. */
#ifndef LAGRA_TRANSFER_BLOB_STATES_H
#define LAGRA_TRANSFER_BLOB_STATES_H

#include "transfer/item.h"

struct blob_states {
    struct item *first, *last; /* linked by next */
    uint64_t count;
};

/* Takes ownership of the item. */
void blob_states_add(struct blob_states *states, struct item *item);
/* Returns the states as one item: oldest first, without duplicates, the blob itself last. Returns
 * NULL if the blob itself is not among them. The collection must not be used afterwards. */
struct item *blob_states_order(struct blob_states *states, struct arena *arena);

#endif
