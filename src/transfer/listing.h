/* Internal to transfer/. Orders a blob with its snapshots and versions, in whatever order a source
 * lists them: services differ in whether the blob comes first or last, and pages may overlap. */
#ifndef LAGRA_TRANSFER_LISTING_H
#define LAGRA_TRANSFER_LISTING_H

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

/* Internal to transfer/. Ends a listing that makes no progress, because a source may return markers
 * without end. Pure. decision: 907 */

/* Maximum consecutive pages without an entry; a service returns some when it skips deleted
 * items. */
#define LISTING_EMPTY_MAX   10000u
/* Maximum entries of one listing. */
#define LISTING_ENTRIES_MAX ((uint64_t)1 << 32)

/* State of one listing; initially zeroed. */
struct listing_bound {
    /* The page that later ones are compared with: the one whose number is the last power of two. A
     * cycle of any length reaches it again. */
    struct item_hash kept_names, kept_marker;
    bool kept_has_names;
    uint64_t pages, next_kept;
    uint64_t entries;
    unsigned empty; /* consecutive pages without an entry */
};

/* Records a page that is followed by another one. names: hash of its entries' names. Returns false
 * if the listing does not end. */
bool listing_bound_page(struct listing_bound *bound, const struct item_hash *names,
                        uint64_t entries, struct bytes marker);

#endif
