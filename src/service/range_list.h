/* Ranges of content that have data, or that differ from an older state: Get Page Ranges, List
 * Ranges. Plain values; service/read_answer.h reads them from a request. */
#ifndef LAGRA_SERVICE_RANGE_LIST_H
#define LAGRA_SERVICE_RANGE_LIST_H

#include "service/read_range.h"

/* Maximum number of ranges per page. rest: Get-Page-Ranges "maxresults" */
#define RANGE_LIST_MAX         10000u
/* Maximum number of ranges of a list without pages. decision: 73 */
#define RANGE_LIST_UNPAGED_MAX 100000u

struct range_list {
    struct read_range range;
    bool is_paged; /* enables the following fields */
    uint32_t max;  /* 1..RANGE_LIST_MAX */
    uint64_t from; /* start of the page */
};

/* Content to list. */
struct range_list_source {
    const struct content *content;
    uint32_t unit; /* granularity of ranges in bytes, except at the end; 1 for exact ranges */
    /* Finds an older state to compare with. NULL to list all ranges with data. */
    enum error (*find_older)(struct decision *d, const void *context, struct content *ret_older);
    const void *context;
};

/* Reads a page of the list, or the complete list, from d->before. Returns  OK; E_InvalidRange;
 * E_OperationTimedOut: too long for one response; like find_older(). */
enum error range_list_find(struct decision *d, const struct range_list *list,
                           const struct range_list_source *source,
                           struct content_ranges *ret_ranges);

#endif
