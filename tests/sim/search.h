/* Find Blobs by Tags in a container: a page is of one state where one server has the store, in order of names, and its marker
 * leads to the first that it does not show. */
#ifndef LAGRA_SIM_SEARCH_H
#define LAGRA_SIM_SEARCH_H

#include "model.h"

/* As listing_compare(). */
const char *search_compare(const struct ask *ask, const struct reply *answer, uint64_t from,
                           uint64_t to, uint64_t *ret_commit, struct page_ask *ret_next);

/* The same where each partition is shown in a state of its own (front ends). NULL, or what is wrong. *ret_next: max is 0, too,
 * where it is not known which blob the marker is of. */
const char *search_compare_parts(const struct ask *ask, const struct reply *answer, uint64_t from,
                                 uint64_t to, struct page_ask *ret_next);

#endif
