/* The operations on tables: what each is asked and what comes of it. The functions:
 * table_operations.c, query_tables.c, and the files of these names in rest/. */
#ifndef LAGRA_TABLE_TABLE_OPERATIONS_H
#define LAGRA_TABLE_TABLE_OPERATIONS_H

#include "table/tables.h"

struct filter;
struct odata;

struct create_table_parameters {
    struct parameters base;
    struct guid space;         /* of the new incarnation: fresh, so that it starts empty */
    struct bytes name;         /* by parse */
    const struct odata *odata; /* how it is answered: rest/odata.h */
};
OPERATION_NO_RESULT(create_table);
OPERATION_DECLARE(create_table);
OPERATION_DECLARE_PARSE(create_table);

OPERATION_NO_PARAMETERS(delete_table);
OPERATION_NO_RESULT(delete_table);
OPERATION_DECLARE(delete_table);

/* One table of the set. */
struct get_table_parameters {
    struct parameters base;
    const struct odata *odata;
};
struct get_table_result {
    struct result base;
    struct bytes name;
};
OPERATION_DECLARE(get_table);

/* The results of a page are handed over one by one, by their names. Starts anew with each attempt;
 * what it is given is gone after the call. */
struct table_sink {
    bool full; /* it takes no more */
    void (*begin)(struct table_sink *sink);
    /* key: the name in lower case, by which tables are ordered */
    void (*add)(struct table_sink *sink, struct bytes key, struct bytes name);
};
struct query_tables_parameters {
    struct parameters base;
    const struct odata *odata;
    const struct filter *filter; /* NULL: all */
    uint32_t top;                /* 1..QUERY_RESULTS_MAX */
    struct bytes from; /* a name in lower case: where the page begins; ptr NULL: at the first */
    struct table_sink *sink;
};
struct query_tables_result {
    struct result base;
    struct bytes next; /* where the next page begins; ptr NULL: none */
};
OPERATION_DECLARE(query_tables);

OPERATION_NO_PARAMETERS(get_table_acl);
struct get_table_acl_result {
    struct result base;
    struct policies policies;
};
OPERATION_DECLARE(get_table_acl);

struct set_table_acl_parameters {
    struct parameters base;
    struct policies policies; /* by parse */
};
OPERATION_NO_RESULT(set_table_acl);
OPERATION_DECLARE(set_table_acl);
OPERATION_DECLARE_PARSE(set_table_acl);

#endif
