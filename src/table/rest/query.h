/* The options of queries, of tables and of entities. Inside table/rest/ only.
 * rest: Querying-Tables-and-Entities */
#ifndef LAGRA_TABLE_REST_QUERY_H
#define LAGRA_TABLE_REST_QUERY_H

#include "table/filter.h"
#include "table/rest/odata.h"

/* Most results of a page. */
#define QUERY_RESULTS_MAX 1000
/* Most names of a $select. */
#define QUERY_SELECT_MAX  255

/* $top; none: a full page. returns OK, E_InvalidInput */
enum error query_read_top(struct call *call, uint32_t *ret_top);
/* $filter; NULL: none. returns OK, E_InvalidInput, E_NotImplemented */
enum error query_read_filter(struct call *call, enum filter_of of,
                             const struct filter **ret_filter);

/* $select: names of properties; none, or "*": all. returns OK, E_InvalidInput */
enum error query_read_select(struct call *call, const struct bytes **ret_select, size_t *ret_count);

#endif
