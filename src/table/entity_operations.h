/* The operations on entities: what each is asked and what comes of it. The functions:
 * entity_operations.c, query_entities.c, and the files of these names in rest/. */
#ifndef LAGRA_TABLE_ENTITY_OPERATIONS_H
#define LAGRA_TABLE_ENTITY_OPERATIONS_H

#include "table/key_limits.h"
#include "table/tables.h"

struct filter;
struct odata;

struct insert_entity_parameters {
    struct parameters base;
    struct entity entity;      /* by parse; its timestamp is the decision's instant */
    const struct odata *odata; /* how it is answered: rest/odata.h */
};
struct insert_entity_result {
    struct result base;
    struct entity entity; /* as it is stored */
    struct bytes table;   /* its name */
};
OPERATION_DECLARE(insert_entity);
OPERATION_DECLARE_PARSE(insert_entity);

/* Update Entity, Insert Or Replace Entity: the entity becomes this one. */
struct replace_entity_parameters {
    struct parameters base;
    struct entity entity; /* by parse */
};
OPERATION_NO_RESULT(replace_entity);
OPERATION_DECLARE(replace_entity);
OPERATION_DECLARE_PARSE(replace_entity);

/* Merge Entity, Insert Or Merge Entity: properties that are not given stay. */
struct merge_entity_parameters {
    struct parameters base;
    struct entity entity; /* by parse */
};
OPERATION_NO_RESULT(merge_entity);
OPERATION_DECLARE(merge_entity);
OPERATION_DECLARE_PARSE(merge_entity);

OPERATION_NO_PARAMETERS(delete_entity);
OPERATION_NO_RESULT(delete_entity);
OPERATION_DECLARE(delete_entity);

/* Query Entities by both keys. */
struct get_entity_parameters {
    struct parameters base;
    const struct odata *odata;
    const struct bytes *select; /* names; none: all properties */
    size_t select_count;
    const struct filter *filter; /* NULL: none */
};
struct get_entity_result {
    struct result base;
    struct entity entity;
    struct bytes table;
};
OPERATION_DECLARE(get_entity);

/* The entities of a page are handed over one by one. Starts anew with each attempt; what it is
 * given is gone after the call. */
struct entity_sink {
    bool full;      /* it takes no more */
    uint64_t steps; /* that the last one took, as filter_holds() counts them */
    void (*begin)(struct entity_sink *sink, struct bytes table);
    void (*add)(struct entity_sink *sink, const struct entity *entity);
};
struct query_entities_parameters {
    struct parameters base;
    const struct odata *odata;
    const struct filter *filter; /* NULL: all */
    uint32_t top;                /* 1..QUERY_RESULTS_MAX */
    struct entity_place from; /* where the page begins; partition.ptr NULL: at the first entity */
    struct entity_sink *sink;
};
struct query_entities_result {
    struct result base;
    struct entity_place
        next; /* where the next page begins, keys in UTF-8; partition.ptr NULL: there
                               * is none */
};
OPERATION_DECLARE(query_entities);

#endif
