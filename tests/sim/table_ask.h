/* What a simulated client asks of the Table service: two tables of a few entities each, whose keys
 * are of those that clients get wrong. */
#ifndef LAGRA_SIM_TABLE_ASK_H
#define LAGRA_SIM_TABLE_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABLES              2u
#define TABLE_PARTITIONS    3u
#define TABLE_ROWS          4u
/* A place is partition * TABLE_ROWS + row: the order of the service. */
#define TABLE_PLACES        (TABLE_PARTITIONS * TABLE_ROWS)
#define TABLE_PROPERTIES    4u
#define TABLE_PARTS_MAX     6u
#define TABLE_TOKEN_SIZE    48u
#define TABLE_SELECT_SECOND 1u /* the property that is selected, where one is */
#define TABLE_POLICIES      2u
#define TABLE_LETTERS       6u /* 0: a policy that there is not */
#define TABLE_LETTERS_ALL   1u

enum table_op {
    TABLE_CREATE,
    TABLE_DROP,
    TABLE_GET,
    TABLE_LIST,
    TABLE_GET_ACL,
    TABLE_SET_ACL,
    TABLE_INSERT, /* from here on: of entities */
    TABLE_REPLACE,
    TABLE_MERGE,
    TABLE_DELETE,
    TABLE_READ,
    TABLE_QUERY,
    TABLE_TRANSACTION,
    TABLE_BATCHED_QUERY, /* alone in a batch */
    TABLE_OPS
};

enum table_if { TABLE_IF_NOTHING, TABLE_IF_ANY, TABLE_IF_ETAG };

/* One write to an entity. A value is a number, 0: none; type and text follow from it
 * (table_value.h). */
struct table_change {
    enum table_op op;
    unsigned place;
    enum table_if condition;
    uint64_t etag; /* ticks */
    unsigned values[TABLE_PROPERTIES];
    bool is_quiet; /* an insert that does not want the entity back */
};

enum table_filter {
    FILTER_NONE,
    FILTER_PARTITION,      /* PartitionKey eq p */
    FILTER_PARTITION_FROM, /* PartitionKey eq p and RowKey ge r */
    FILTER_RECTANGLE,      /* PartitionKey ge p and RowKey lt r */
    FILTER_VALUE,          /* A eq v */
    FILTER_ABOVE,          /* A gt number */
    FILTER_NOT_VALUE,      /* not (A eq v) */
    FILTER_TWO,            /* one place or another */
    FILTER_ROW,            /* RowKey eq r */
    FILTER_BEHIND,         /* PartitionKey gt p */
    FILTER_NOT_ROW,        /* RowKey ne r */
    FILTER_NOT_PARTITION,  /* PartitionKey ne p */
    FILTER_ORDER,          /* A, an operator, v */
    FILTER_KINDS
};

enum table_operator {
    OPERATOR_EQ,
    OPERATOR_NE,
    OPERATOR_LT,
    OPERATOR_LE,
    OPERATOR_GT,
    OPERATOR_GE
};
#define TABLE_OPERATORS 6u

struct table_query {
    enum table_filter filter;
    enum table_operator operator; /* of FILTER_ORDER */
    unsigned place, other, value;
    unsigned top;    /* 0: not said */
    bool is_partial; /* selects one property */
    /* A page that goes on: the tokens, and the place (or table) that they name. */
    char next_partition[TABLE_TOKEN_SIZE], next_row[TABLE_TOKEN_SIZE];
    unsigned from;
};

/* A shared access signature that opens the places from `first` to `last`, by letters or by a stored
 * policy; by both it opens nothing. Where the row is not said, all of the partition is meant. */
struct table_sas {
    bool is_used, by_policy;
    unsigned letters; /* of table_letters; by a policy: its number */
    unsigned beside;  /* letters said beside the policy; 0: none */
    bool has_first, has_last, says_first_row, says_last_row;
    unsigned first, last;
};

struct table_ask {
    enum table_op op;
    unsigned table;
    struct table_sas sas;
    struct table_change parts[TABLE_PARTS_MAX]; /* one, but for a transaction */
    unsigned count;
    struct table_query query;
    unsigned policies[TABLE_POLICIES]; /* letters of each */
};

/* Of a reply. */
struct table_tokens {
    char partition[TABLE_TOKEN_SIZE], row[TABLE_TOKEN_SIZE], table[TABLE_TOKEN_SIZE];
};

extern const char *const table_names[TABLES];
extern const char *const table_op_names[TABLE_OPS];
extern const char *const table_partitions[TABLE_PARTITIONS]; /* in UTF-8 */
extern const char *const table_rows[TABLE_ROWS];
extern const char *const table_letters[TABLE_LETTERS];
/* The partitions as JSON may have them. */
extern const char *const table_partitions_json[TABLE_PARTITIONS];

extern const char *const table_operators[TABLE_OPERATORS];
/* For people. */
void table_ask_format(const struct table_ask *table, char *to, size_t size);

#endif
