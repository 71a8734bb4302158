/* Tokens of a $filter. Of filter_parse.c alone. */
#ifndef LAGRA_TABLE_FILTER_TOKEN_H
#define LAGRA_TABLE_FILTER_TOKEN_H

#include "base/arena.h"
#include "table/edm.h"

enum token_kind {
    TOKEN_END,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_WORD,    /* a property, an operator, or the name of a function */
    TOKEN_LITERAL, /* its value */
    TOKEN_BAD,
};

struct token {
    enum token_kind kind;
    size_t at;          /* byte of the text, from 0 */
    struct bytes text;  /* as written */
    enum edm_type type; /* TOKEN_BAD: of the malformed literal; EDM_TYPES: no literal begins here */
    struct edm_value value;
};

/* The token that begins at or behind `at`. */
struct token token_read(struct arena *arena, struct bytes text, size_t at);

#endif
