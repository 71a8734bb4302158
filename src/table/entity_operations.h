/* Parameters and results of the operations on entities. Functions: entity_operations.c,
 * query_entities.c, and the files with these names in rest/. */
#ifndef LAGRA_TABLE_ENTITY_OPERATIONS_H
#define LAGRA_TABLE_ENTITY_OPERATIONS_H

#include "table/entity.h"
#include "table/tables.h"

struct filter;
struct odata;

struct insert_entity_parameters {
    struct parameters base;
    struct entity entity;      /* set by parse; its timestamp is the decision's instant */
    const struct odata *odata; /* response format: rest/odata.h */
};
struct insert_entity_result {
    struct result base;
    struct entity entity; /* as stored */
    struct bytes table;   /* table name */
};
OPERATION_DECLARE(insert_entity);
OPERATION_DECLARE_PARSE(insert_entity);

/* Update Entity, Insert Or Replace Entity: replaces the entity. */
struct replace_entity_parameters {
    struct parameters base;
    struct entity entity; /* set by parse */
};
OPERATION_NO_RESULT(replace_entity);
OPERATION_DECLARE(replace_entity);
OPERATION_DECLARE_PARSE(replace_entity);

/* Merge Entity, Insert Or Merge Entity: retains properties not in the request. */
struct merge_entity_parameters {
    struct parameters base;
    struct entity entity; /* set by parse */
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
    const struct bytes *select; /* property names; none: all */
    size_t select_count;
    const struct filter *filter; /* NULL if none */
};
struct get_entity_result {
    struct result base;
    struct entity entity;
    struct bytes table;
};
OPERATION_DECLARE(get_entity);

/* Receives the entities of a page one by one. Restarted with each attempt; entities are valid only
 * during the call. */
struct entity_sink {
    bool full;      /* the page is full */
    uint64_t steps; /* cost of the last entity, in steps of filter_holds() */
    void (*begin)(struct entity_sink *sink, struct bytes table);
    void (*add)(struct entity_sink *sink, const struct entity *entity);
};
struct query_entities_parameters {
    struct parameters base;
    const struct odata *odata;
    const struct filter *filter; /* NULL if none */
    uint32_t top;                /* 1..QUERY_RESULTS_MAX */
    struct entity_place from; /* start of the page; partition.ptr NULL means at the first entity */
    struct entity_sink *sink;
};
struct query_entities_result {
    struct result base;
    struct entity_place
        next; /* start of the next page, keys in UTF-8; partition.ptr NULL if none */
};
OPERATION_DECLARE(query_entities);

#endif
