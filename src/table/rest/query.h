/* The options of queries for tables and entities. Internal to table/rest/.
 * rest: Querying-Tables-and-Entities */
#ifndef LAGRA_TABLE_REST_QUERY_H
#define LAGRA_TABLE_REST_QUERY_H

#include "base/arena.h"
#include "table/filter.h"
#include "table/rest/odata.h"

/* Maximum results of a page. */
#define QUERY_RESULTS_MAX 1000
/* Maximum names in a $select. */
#define QUERY_SELECT_MAX  255

/* Reads $top; defaults to a full page. Returns OK, E_InvalidInput. */
enum error query_read_top(struct call *call, uint32_t *ret_top);
/* Reads $filter; NULL if absent. Returns OK, E_InvalidInput, E_NotImplemented. */
enum error query_read_filter(struct call *call, enum filter_of of,
                             const struct filter **ret_filter);

/* Reads $select: property names; none or "*" for all. Returns OK, E_InvalidInput. */
enum error query_read_select(struct call *call, const struct bytes **ret_select, size_t *ret_count);

/* Continuation tokens in the service's form: "1!40!cGFydGl0aW9u.." is the version, the length of
 * the rest, and a key in base64 with '-' for '=', '_' for '/', '*' for '+', so that it needs no
 * encoding in a URL. Recorded; semantics 6. Pure functions. Thread-safe. */

struct bytes continuation_encode(struct arena *arena, struct bytes key);
/* Returns ptr NULL if it is not a token. Checks only the form; the result may not be a valid
 * key. */
struct bytes continuation_decode(struct arena *arena, struct bytes token);

#endif
