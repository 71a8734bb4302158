/* $filter: conditions on entities, or on the names of tables. Pure functions, any thread.
 *
 *   or-expression    = and-expression *( "or" and-expression )
 *   and-expression   = unary *( "and" unary )
 *   unary            = *"not" comparison
 *   comparison       = operand [ ( "eq" | "ne" | "gt" | "ge" | "lt" | "le" ) operand ]
 *   operand          = "(" or-expression ")" | property | literal
 *   literal          = 'text' | 12 | 12L | 1.5 | 1e3 | 1.5d | NaN | INF | -INF | true | false
 *                      | datetime'..' | guid'..' | X'0aFF' | binary'0aFF'
 *
 * Words have one case, but for true and false; a quote inside a text is doubled. One side of a comparison is a property
 * and the other a literal; a property alone is compared with true. A property that an entity
 * does not have, or that has another type than the literal, makes its comparison false, "ne"
 * too; an Int32 literal is also compared with Int64 and Double. What OData has besides
 * (functions, arithmetic, two properties) is E_NotImplemented, the literal null E_InvalidInput. decision: 165, 166, 167
 * rest: Querying-Tables-and-Entities */
#ifndef LAGRA_TABLE_FILTER_H
#define LAGRA_TABLE_FILTER_H

#include "table/entity.h"

#define FILTER_BYTES_MAX       (32u << 10)
#define FILTER_COMPARISONS_MAX 128 /* decision: 167 */
#define FILTER_DEPTH_MAX       128 /* parentheses and "not" in one another */
/* Each comparison, an operator between two, and "not" as often as it may be nested. */
#define FILTER_NODES_MAX       (2 * FILTER_COMPARISONS_MAX + FILTER_DEPTH_MAX)

/* What is filtered: entities, or tables by their one property TableName. */
enum filter_of { FILTER_ENTITIES, FILTER_TABLES };

enum filter_operator {
    FILTER_EQUAL,
    FILTER_NOT_EQUAL,
    FILTER_GREATER,
    FILTER_GREATER_EQUAL,
    FILTER_LESS,
    FILTER_LESS_EQUAL,
};

enum filter_field {
    FIELD_PARTITION_KEY,
    FIELD_ROW_KEY,
    FIELD_TIMESTAMP,
    FIELD_TABLE_NAME,
    FIELD_PROPERTY,
};

/* A property on the left, a literal on the right. */
struct filter_comparison {
    enum filter_field field;
    struct bytes name; /* FIELD_PROPERTY */
    enum filter_operator operator;
    struct edm_value value;
};

enum filter_kind { NODE_COMPARISON, NODE_CONSTANT, NODE_AND, NODE_OR, NODE_NOT };

struct filter_node {
    enum filter_kind kind;
    bool constant;
    uint16_t left, right; /* the comparison; or the operands, which are nodes before this one */
};

struct filter {
    struct filter_comparison *comparisons;
    size_t comparison_count;
    const struct filter_comparison **by_name; /* those of FIELD_PROPERTY, in the order of names */
    size_t name_count;
    struct filter_node *nodes; /* the last is the root */
    size_t node_count;
};

/* arena   the filter lies there; texts of it there or in `text`
 * ret_message  the message of the refusal; NULL: that of its code
 * returns  OK, E_InvalidInput, E_NotImplemented */
enum error filter_parse(struct arena *arena, struct bytes text, enum filter_of of,
                        struct filter *ret_filter, const char **ret_message);

/* What is looked at: the value of an entity's record (entity.h) with its keys, or a table's
 * name. */
struct filter_subject {
    struct bytes partition_key, row_key;
    struct bytes record; /* ptr NULL: of a table */
    struct bytes table_name;
    uint64_t steps; /* filter_holds() adds what it took */
};
/* False also for a record of an unknown form.
 *
 * The comparisons of a property are looked up by its name, so what it takes grows with the properties
 * and the comparisons, not with their product. A step is about 10 ns: a property that is read, a name
 * that is compared, a comparison, 16 bytes of two texts that are compared, a node. */
bool filter_holds(const struct filter *filter, struct filter_subject *subject);

/* ---- where to look ----
 * Keys are encoded (entity_key_encode()); `to` is the first that is not in the range, ptr NULL:
 * there is no end. */
struct key_interval {
    struct bytes from, to;
};
struct key_range {
    struct key_interval partitions;
    bool one_partition;       /* partitions.from alone */
    struct key_interval rows; /* of that partition; of several: all rows */
};
#define FILTER_RANGES_MAX 64

/* Ranges that contain every entity for which the filter may hold, in the order of keys,
 * disjoint, at most FILTER_RANGES_MAX; none: it holds for no entity. */
struct key_ranges {
    struct key_range *ranges;
    size_t count;
};
struct key_ranges filter_ranges(struct arena *arena, const struct filter *filter);

#endif
