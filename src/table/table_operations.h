/* Parameters and results of the operations on tables. Functions: table_operations.c,
 * query_tables.c, and the files with these names in rest/. */
#ifndef LAGRA_TABLE_TABLE_OPERATIONS_H
#define LAGRA_TABLE_TABLE_OPERATIONS_H

#include "table/tables.h"

struct filter;
struct odata;

struct create_table_parameters {
    struct parameters base;
    struct guid space;         /* of the new table: a fresh id, so that it is empty */
    struct bytes name;         /* set by parse */
    const struct odata *odata; /* response format: rest/odata.h */
};
OPERATION_NO_RESULT(create_table);
OPERATION_DECLARE(create_table);
OPERATION_DECLARE_PARSE(create_table);

OPERATION_NO_PARAMETERS(delete_table);
OPERATION_NO_RESULT(delete_table);
OPERATION_DECLARE(delete_table);

/* A single table. */
struct get_table_parameters {
    struct parameters base;
    const struct odata *odata;
};
struct get_table_result {
    struct result base;
    struct bytes name;
};
OPERATION_DECLARE(get_table);

/* Receives the tables of a page by name, one by one. Restarted with each attempt; names are valid
 * only during the call. */
struct table_sink {
    bool full; /* the page is full */
    void (*begin)(struct table_sink *sink);
    /* key: the name in lower case, by which tables are ordered */
    void (*add)(struct table_sink *sink, struct bytes key, struct bytes name);
};
struct query_tables_parameters {
    struct parameters base;
    const struct odata *odata;
    const struct filter *filter; /* NULL if none */
    uint32_t top;                /* 1..QUERY_RESULTS_MAX */
    /* lower-case name of the first table of the page; ptr NULL means from the start */
    struct bytes from;
    struct table_sink *sink;
};
struct query_tables_result {
    struct result base;
    struct bytes next; /* first table of the next page; ptr NULL if none */
};
OPERATION_DECLARE(query_tables);

/* Member of struct container_type (properties/metadata_acl.h). */
void table_write_state(struct decision *d);

#endif
