/* Find Blobs by Tags in a container: a page is of one state, in order of names, and its marker
 * leads to the first that it does not show. */
#ifndef LAGRA_SIM_SEARCH_H
#define LAGRA_SIM_SEARCH_H

#include "model.h"

/* As listing_compare(). */
const char *search_compare(const struct ask *ask, const struct reply *answer, uint64_t from,
                           uint64_t to, uint64_t *ret_commit, struct page_ask *ret_next);

#endif
