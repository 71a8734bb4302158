/* Expressions over the index tags of a blob, for x-ms-if-tags and Find Blobs by Tags. Pure
 * functions.
 *
 *   expression  = conjunction *( "OR" conjunction )
 *   conjunction = term *( "AND" term )
 *   term        = "(" expression ")" | comparison
 *   comparison  = name operator value
 *   name        = '"' text '"' | 1*( letter | digit | "_" ) | "@container"
 *   operator    = "=" | "<>" | "!=" | ">" | ">=" | "<" | "<="
 *   value       = "'" text "'"
 *
 * A reserved word (and, or, not, year, month, day) is a name only in quotes. AND and OR are
 * case-insensitive. A quote inside a text is doubled, though no tag contains one: names and values
 * contain only characters allowed in tags. In a search, the length limits of tags apply to them
 * too. Values are compared as bytes. A comparison with a tag that the blob does not have is false,
 * even "<>". A search has neither OR nor "<>", and names a tag once, or twice for the two ends of a
 * range; @container is only allowed in searches, with "=". rest: Find-Blobs-by-Tags "Remarks",
 * Specifying-Conditional-Headers-for-Blob-Service-Operations; decision: 78, 265 */
#ifndef LAGRA_CONCURRENCY_TAG_EXPRESSION_H
#define LAGRA_CONCURRENCY_TAG_EXPRESSION_H

#include "concurrency/tags.h"

/* Maximum number of comparisons in a condition, and of tags in a search. */
#define TAG_OPERATIONS_MAX  10
/* A search may have a range for each tag. */
#define TAG_COMPARISONS_MAX (2 * TAG_OPERATIONS_MAX + 1)
/* Maximum nesting of parentheses. */
#define TAG_DEPTH_MAX       32

enum tag_operator {
    TAG_EQUAL,
    TAG_NOT_EQUAL,
    TAG_GREATER,
    TAG_GREATER_EQUAL,
    TAG_LESS,
    TAG_LESS_EQUAL,
};

struct tag_comparison {
    bool of_container; /* compares the container's name, not a tag */
    struct bytes name;
    enum tag_operator operator;
    struct bytes value;
};

struct tag_expression {
    struct tag_comparison comparisons[TAG_COMPARISONS_MAX];
    size_t count;
    /* in postfix order: index of a comparison, TAG_STEP_AND or TAG_STEP_OR */
    uint8_t steps[2 * TAG_COMPARISONS_MAX];
    size_t step_count;
};
#define TAG_STEP_AND 0xFE
#define TAG_STEP_OR  0xFF

enum tag_grammar { TAG_CONDITION, TAG_SEARCH };

struct tag_syntax_error {
    size_t position;    /* byte offset in the text */
    const char *reason; /* static or in the arena; the service's wording without a full stop */
};

/* Parses an expression. Its strings are in the arena or point into `text`. Returns false and sets
 * *ret_error on a syntax error. */
bool tag_expression_parse(struct arena *arena, struct bytes text, enum tag_grammar grammar,
                          struct tag_expression *ret_expression,
                          struct tag_syntax_error *ret_error);

/* Evaluates an expression. container: the blob's, for a search; tags: encoded. */
bool tag_expression_holds(const struct tag_expression *expression, struct bytes container,
                          struct bytes tags);
/* Evaluates a single comparison. value: ptr NULL if the blob has no such tag. */
bool tag_comparison_holds(const struct tag_comparison *comparison, struct bytes value);

#endif
