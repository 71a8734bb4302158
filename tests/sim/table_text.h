/* Keys and filters as texts of a URL. rest: Querying-Tables-and-Entities */
#ifndef LAGRA_SIM_TABLE_TEXT_H
#define LAGRA_SIM_TABLE_TEXT_H

#include "base/arena.h"
#include "table_ask.h"

const char *table_partition_of(unsigned place);
const char *table_row_of(unsigned place);
/* Percent-encoded. */
void table_add_escaped(struct text *text, const char *from);
/* A literal of OData: quotes in it are doubled. */
void table_add_literal(struct text *text, const char *key);
/* With a NUL behind it. */
void table_add_filter(struct text *filter, const struct table_query *query);

#endif
