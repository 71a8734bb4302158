/* Tokens of a $filter. Internal to filter_parse.c. */
#ifndef LAGRA_TABLE_FILTER_TOKEN_H
#define LAGRA_TABLE_FILTER_TOKEN_H

#include "base/arena.h"
#include "table/edm.h"

enum token_kind {
    TOKEN_END,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_WORD,    /* a property, an operator, or a function name */
    TOKEN_LITERAL, /* a value */
    TOKEN_BAD,
};

struct token {
    enum token_kind kind;
    size_t at;         /* byte offset in the text */
    struct bytes text; /* as written */
    /* TOKEN_BAD: type of the malformed literal; EDM_TYPES if it is not a literal */
    enum edm_type type;
    struct edm_value value;
};

/* Reads the next token, at or after `at`. */
struct token token_read(struct arena *arena, struct bytes text, size_t at);

#endif
