/* Internal to transfer/. Ends a listing that makes no progress: a source may send markers without end. Pure logic. decision: 907 */
#ifndef LAGRA_TRANSFER_BOUND_H
#define LAGRA_TRANSFER_BOUND_H

#include "transfer/item.h"

/* Pages without an entry that may follow one another: a service sends some where it skips deleted items. */
#define LISTING_EMPTY_MAX   10000u
/* Entries of one listing. */
#define LISTING_ENTRIES_MAX ((uint64_t)1 << 32)

/* Of one listing; zeros at its start. */
struct listing_bound {
    /* A page that later ones are compared with: the one whose number is the last power of two. A cycle of any length reaches
     * it again. */
    struct item_hash kept_names, kept_marker;
    bool kept_has_names;
    uint64_t pages, next_kept;
    uint64_t entries;
    unsigned empty; /* pages without an entry up to now */
};

/* Notes a page that is followed by another one. names: hash of its entries' names. Returns false if the listing does not end. */
bool listing_bound_page(struct listing_bound *bound, const struct item_hash *names,
                        uint64_t entries, struct bytes marker);

#endif
