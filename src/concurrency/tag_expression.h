/* Expressions over the index tags of a blob: of x-ms-if-tags, and of Find Blobs by Tags. Pure
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
 * A reserved word (and, or, not, year, month, day) is a name only in quotes. AND and OR in either case; a quote inside a text is doubled, but no tag has one: names and values
 * have the characters that tags may have, and in a search their lengths. Values are compared as
 * bytes. No
 * comparison with a tag that the blob does not have holds, "<>" neither. A search has neither OR
 * nor "<>", and names a tag once, or twice for the two ends of a range; @container is of searches
 * alone, with "=".
 * rest: Find-Blobs-by-Tags "Remarks", Specifying-Conditional-Headers-for-Blob-Service-Operations;
 * decision: 78, 265 */
#ifndef LAGRA_CONCURRENCY_TAG_EXPRESSION_H
#define LAGRA_CONCURRENCY_TAG_EXPRESSION_H

#include "concurrency/tags.h"

/* Comparisons of a condition; tags that a search names. */
#define TAG_OPERATIONS_MAX  10
/* A search has a range for each. */
#define TAG_COMPARISONS_MAX (2 * TAG_OPERATIONS_MAX + 1)
/* Parentheses in one another. */
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
    bool of_container; /* not of a tag: of the container's name */
    struct bytes name;
    enum tag_operator operator;
    struct bytes value;
};

struct tag_expression {
    struct tag_comparison comparisons[TAG_COMPARISONS_MAX];
    size_t count;
    /* In postfix order: the position of a comparison, TAG_STEP_AND or TAG_STEP_OR. */
    uint8_t steps[2 * TAG_COMPARISONS_MAX];
    size_t step_count;
};
#define TAG_STEP_AND 0xFE
#define TAG_STEP_OR  0xFF

enum tag_grammar { TAG_CONDITION, TAG_SEARCH };

struct tag_syntax_error {
    size_t position;    /* byte of the text, from 0 */
    const char *reason; /* static or in the arena; as the service words it, without a full stop */
};

/* arena   texts of the expression lie there or in `text`
 * returns false: *ret_error says why */
bool tag_expression_parse(struct arena *arena, struct bytes text, enum tag_grammar grammar,
                          struct tag_expression *ret_expression,
                          struct tag_syntax_error *ret_error);

/* container: of the blob, for a search; tags: encoded. */
bool tag_expression_holds(const struct tag_expression *expression, struct bytes container,
                          struct bytes tags);
/* One of its comparisons alone. value: ptr NULL: there is no such tag. */
bool tag_comparison_holds(const struct tag_comparison *comparison, struct bytes value);

#endif
