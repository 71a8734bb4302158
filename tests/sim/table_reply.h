/* Answers of the Table service, read without its code: JSON of entities and tables, parts of a
 * transaction's answer. */
#ifndef LAGRA_SIM_TABLE_REPLY_H
#define LAGRA_SIM_TABLE_REPLY_H

#include "request.h"

#define TABLE_SHOWN_MAX (TABLE_PLACES + 1u)

/* An entity as an answer shows it: pieces of the answer. */
struct table_text {
    const char *ptr; /* as in JSON, with quotes; NULL: it is not there */
    size_t len;
};
struct table_shown {
    int place; /* -1: no keys are shown */
    uint64_t etag;
    bool time_differs; /* Timestamp from the ETag */
    struct table_text values[TABLE_PROPERTIES], types[TABLE_PROPERTIES];
};

/* Ticks of W/"datetime'..'", also where its quotes have backslashes; 0: not of that form. */
uint64_t table_etag(const char *text, size_t size);
/* One entity. NULL, or what is wrong with the text. */
const char *table_read_entity(const char *text, struct table_shown *ret_shown);
/* A page of them. */
const char *table_read_page(const char *text, struct table_shown shown[TABLE_SHOWN_MAX],
                            unsigned *ret_count);
/* A page of tables, as bits. */
const char *table_read_tables(const char *text, unsigned *ret_tables);

struct table_part {
    int status;
    char code[64];
    int number; /* that the error's message names; -1: none */
    uint64_t etag;
    struct table_tokens tokens;
    const char *body;
};
/* The parts of a batch's answer. NULL, or what is wrong with it. */
const char *table_read_parts(const char *text, struct table_part parts[TABLE_PARTS_MAX],
                             unsigned *ret_count);

/* The number of a key that a continuation token names, of `count`; -1: none of them. */
int table_token_key(const char *token, const char *const *keys, unsigned count);

#endif
