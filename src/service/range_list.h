/* Which ranges of a content have bytes, and which differ from an older state: Get Page Ranges, List
 * Ranges. Plain values; service/range_list_xml.h reads them from a request. */
#ifndef LAGRA_SERVICE_RANGE_LIST_H
#define LAGRA_SERVICE_RANGE_LIST_H

#include "service/read_range.h"

/* Most ranges of a page of a list. rest: Get-Page-Ranges "maxresults" */
#define RANGE_LIST_MAX         10000u
/* Most ranges of a list that is given as a whole. decision: 73 */
#define RANGE_LIST_UNPAGED_MAX 100000u

struct range_list {
    struct read_range range;
    bool is_paged; /* the rest: */
    uint32_t max;  /* 1..RANGE_LIST_MAX */
    uint64_t from; /* where the page begins */
};

/* What the list is of. */
struct range_list_source {
    const struct content *content;
    uint32_t unit; /* ranges are whole units of so many bytes, but for the end; 1: as they are */
    /* Finds an older state of it to compare with; NULL: the list is of all that has bytes. */
    enum error (*find_older)(struct decision *d, const void *asked, struct content *ret_older);
    const void *asked;
};

/* Reads a page of the list, or all of it, in d->before. Decides.
 * returns  OK; E_InvalidRange; E_OperationTimedOut: too long for one answer; as find_older() */
enum error range_list_find(struct decision *d, const struct range_list *asked,
                           const struct range_list_source *source,
                           struct content_ranges *ret_ranges);

#endif
