/* What is shown beside what there is: an entity, and a page of a query or of the tables, which is
 * taken from one state and leaves nothing out before the place that its token names. */
#ifndef LAGRA_SIM_TABLE_PAGES_H
#define LAGRA_SIM_TABLE_PAGES_H

#include "table_model.h"
#include "table_reply.h"

/* NULL, or what differs. version NULL: there is none. */
const char *table_compare_entity(const struct table_shown *shown,
                                 const struct entity_version *version, bool is_partial);
/* body: of the answer to a query alone, or in a batch, which has no tokens of its own. */
const char *table_compare_page(const struct table_ask *ask, const struct table_tokens *tokens,
                               const char *body, uint64_t commit);
const char *table_compare_tables(const struct table_ask *ask, const struct table_tokens *tokens,
                                 const char *body, uint64_t commit);
/* The page behind it. False: there is none. */
bool table_next_page(const struct table_ask *ask, const struct table_tokens *tokens,
                     struct table_query *ret_next);

#endif
