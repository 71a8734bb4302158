/* List Blobs and List Containers: a page is taken from one state, shows in order what there was of
 * it, and its marker leads to the first that it does not show. */
#ifndef LAGRA_SIM_LISTING_H
#define LAGRA_SIM_LISTING_H

#include "model.h"

/* Is the page one of a state in [from, to]?
 *
 * now         of the server when it made the page, in ticks
 * ret_commit  the commit that made the oldest such state; 0: it was there at `from`
 * ret_next    what the page behind it is to be asked with; max is 0 where there is none, or where
 *             several states fit and their pages would go on at several places
 * returns     NULL, or what differs from the newest state */
const char *listing_compare(const struct ask *ask, const struct reply *answer, uint64_t now,
                            uint64_t from, uint64_t to, uint64_t *ret_commit,
                            struct page_ask *ret_next);
/* Fills in the times of snapshots that nobody was told. */
void listing_adopt(const struct ask *ask, const struct reply *answer, uint64_t now,
                   uint64_t commit);

#endif
