/* $filter: conditions on entities, or on the names of tables. Pure functions. Thread-safe.
 *
 *   or-expression    = and-expression *( "or" and-expression )
 *   and-expression   = unary *( "and" unary )
 *   unary            = *"not" comparison
 *   comparison       = operand [ ( "eq" | "ne" | "gt" | "ge" | "lt" | "le" ) operand ]
 *   operand          = "(" or-expression ")" | property | literal
 *   literal          = 'text' | 12 | 12L | 1.5 | 1e3 | 1.5d | NaN | INF | -INF | true | false
 *                      | datetime'..' | guid'..' | X'0aFF' | binary'0aFF'
 *
 * Words are case-sensitive, except true and false; a quote inside a text is doubled. A comparison
 * has a property on one side and a literal on the other; a property without operator is compared
 * with true. If an entity does not have the property, or has it with another type than the literal,
 * the comparison is false, even with "ne"; an Int32 literal is also compared with Int64 and Double.
 * Other OData features (functions, arithmetic, two properties) are E_NotImplemented, the literal
 * null E_InvalidInput. decision: 165, 166, 167 rest: Querying-Tables-and-Entities */
#ifndef LAGRA_TABLE_FILTER_H
#define LAGRA_TABLE_FILTER_H

#include "table/entity.h"

#define FILTER_BYTES_MAX       (32u << 10)
#define FILTER_COMPARISONS_MAX 128 /* decision: 167 */
#define FILTER_DEPTH_MAX       128 /* nesting of parentheses and "not" */
/* comparisons, an operator between each two, and "not" up to the nesting limit */
#define FILTER_NODES_MAX       (2 * FILTER_COMPARISONS_MAX + FILTER_DEPTH_MAX)

/* What is filtered: entities, or tables by their only property TableName. */
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
    uint16_t left, right; /* index of the comparison, or the operands, which are earlier nodes */
};

struct filter {
    struct filter_comparison *comparisons;
    size_t comparison_count;
    const struct filter_comparison **by_name; /* comparisons of FIELD_PROPERTY, sorted by name */
    size_t name_count;
    struct filter_node *nodes; /* the last is the root */
    size_t node_count;
};

/* Parses a filter into the arena; its strings are there or point into `text`.
 * ret_message  the error message, or NULL for the code's default message
 * returns  OK, E_InvalidInput, E_NotImplemented */
enum error filter_parse(struct arena *arena, struct bytes text, enum filter_of of,
                        struct filter *ret_filter, const char **ret_message);

/* The subject of a filter: the value of an entity's record (entity.h) with its keys, or a table's
 * name. */
struct filter_subject {
    struct bytes partition_key, row_key;
    struct bytes record; /* ptr NULL for a table */
    struct bytes table_name;
    uint64_t steps; /* incremented by filter_holds() */
};
/* Evaluates the filter. Returns false for a record with an unrecognized format too.
 *
 * The comparisons of a property are found by its name, so the cost grows with the number of
 * properties plus comparisons, not with their product. A step is about 10 ns: a property read, a
 * name compared, a comparison, 16 bytes of text compared, a node. */
bool filter_holds(const struct filter *filter, struct filter_subject *subject);

/* ---- key ranges ----
 * Keys are encoded (entity_key_encode()); `to` is exclusive, ptr NULL means unlimited. */
struct key_interval {
    struct bytes from, to;
};
struct key_range {
    struct key_interval partitions;
    bool one_partition;       /* only partitions.from */
    struct key_interval rows; /* of that partition; all rows if there are several */
};
#define FILTER_RANGES_MAX 64

/* Disjoint ranges, in key order, that contain every entity for which the filter may be true, at
 * most FILTER_RANGES_MAX; none if it is true for no entity. */
struct key_ranges {
    struct key_range *ranges;
    size_t count;
};
struct key_ranges filter_ranges(struct arena *arena, const struct filter *filter);

#endif
