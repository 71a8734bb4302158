/* Index tags from outside: expressions, x-ms-tags, and documents of Set Blob Tags. What is accepted
 * is within the limits and can be evaluated. */
#include <stdlib.h>

#include "blob/rest/blob_tags.h"
#include "fuzz.h"

static void check_tags(struct arena *arena, const struct tags *tags)
{
    struct bytes encoded = tags_encode(arena, tags);
    struct tags again;

    if (tags->count > TAGS_MAX || tags_count(encoded) != tags->count)
        abort();
    if (!tags_decode(encoded, &again) || again.count != tags->count)
        abort();
}

static void check_expression(struct arena *arena, struct bytes text, enum tag_grammar grammar)
{
    static const struct bytes some = BYTES("\x02"
                                           "a\x02"
                                           "1\x02"
                                           "b\x01");
    struct tag_expression expression;
    struct tag_syntax_error error = { .reason = NULL };

    if (!tag_expression_parse(arena, text, grammar, &expression, &error)) {
        if (!error.reason || error.position > text.len)
            abort();
        return;
    }
    if (expression.count == 0 || expression.step_count != 2 * expression.count - 1 ||
        expression.count > TAG_COMPARISONS_MAX)
        abort();
    if (grammar == TAG_CONDITION && expression.count > TAG_OPERATIONS_MAX)
        abort();
    tag_expression_holds(&expression, bytes_of("box", 3), some);
    if (grammar == TAG_CONDITION &&
        tag_expression_holds(&expression, bytes_of(NULL, 0), bytes_of(NULL, 0)))
        abort(); /* without tags nothing holds */
}

static void check_document(struct arena *arena, struct bytes text)
{
    struct xml_limits limits = { .depth_max = 8, .nodes_max = 1000 };
    struct problem problem = { .detail = NULL };
    struct call call = { .arena = arena, .problem = &problem, .input.body.inline_bytes = text };
    struct xml_error error;
    const struct xml_node *root = xml_parse(arena, text, limits, &error);
    struct bytes encoded;
    struct tags tags;

    if (root && tags_read(&call, root, &encoded) == OK &&
        (!tags_decode(encoded, &tags) || tags.count > TAGS_MAX))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new(1u << 26);
    struct bytes text = bytes_of(data, size);
    struct tags tags;

    check_expression(arena, text, TAG_CONDITION);
    check_expression(arena, text, TAG_SEARCH);
    if (tags_from_query(arena, text, &tags) == OK)
        check_tags(arena, &tags);
    if (tags_decode(text, &tags))
        check_tags(arena, &tags);
    check_document(arena, text);
    arena_free(arena);
    return 0;
}
