/* Tables as JSON, single or in a list. Internal to table/rest/. rest: Query-Tables, Create-Table */
#ifndef LAGRA_TABLE_REST_TABLE_JSON_H
#define LAGRA_TABLE_REST_TABLE_JSON_H

#include "service/call.h"
#include "table/rest/entity_json.h"

/* Writes the entire body: {"odata.metadata":"..#Tables/@Element","TableName":"name"}. */
void table_json_write(struct text *out, const struct call *call, enum odata_metadata metadata,
                      struct bytes name);
/* Write a list: begin, each table, end. */
void table_list_begin(struct text *out, const struct call *call, enum odata_metadata metadata);
void table_list_add(struct text *out, const struct call *call, enum odata_metadata metadata,
                    struct bytes name);
void table_list_end(struct text *out);

#endif
