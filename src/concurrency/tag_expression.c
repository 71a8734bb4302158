/* Tag expressions: a recursive descent parser for the grammar of tag_expression.h that produces
 * postfix steps, and their evaluation. */
#include "concurrency/tag_expression.h"

#include <assert.h>

struct parser {
    struct arena *arena;
    struct bytes text;
    size_t at;
    unsigned depth;
    enum tag_grammar grammar;
    struct tag_expression *out;
    struct tag_syntax_error *error;
};

/* ---- characters ---- */

static bool fail(struct parser *p, const char *reason)
{
    *p->error = (struct tag_syntax_error){ p->at, reason };
    return false;
}

/* Characters allowed in an unquoted name. */
static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void skip_blanks(struct parser *p)
{
    while (p->at < p->text.len && strchr(" \t\r\n", p->text.ptr[p->at]) && p->text.ptr[p->at])
        p->at++;
}

/* Fails at the next word or character, quoting it like the service (reported). */
static bool fail_unexpected(struct parser *p)
{
    size_t end;

    skip_blanks(p);
    if (p->at == p->text.len)
        return fail(p, "unexpected end of query");
    end = p->at + 1;
    while (is_word(p->text.ptr[p->at]) && end < p->text.len && is_word(p->text.ptr[end]))
        end++;
    return fail(p, arena_printf(p->arena, "unexpected '%.*s'%c", (int)(end - p->at),
                                p->text.ptr + p->at, '\0')
                       .ptr);
}

static bool take(struct parser *p, const char *symbol)
{
    size_t len = strlen(symbol);

    skip_blanks(p);
    if (p->text.len - p->at < len || memcmp(p->text.ptr + p->at, symbol, len) != 0)
        return false;
    p->at += len;
    return true;
}

/* Reads a keyword in either case that is not followed by a word character. */
static bool take_word(struct parser *p, const char *word)
{
    size_t len = strlen(word);

    skip_blanks(p);
    if (p->text.len - p->at < len || !bytes_is_nocase(bytes_of(p->text.ptr + p->at, len), word))
        return false;
    if (p->at + len < p->text.len && is_word(p->text.ptr[p->at + len]))
        return false;
    p->at += len;
    return true;
}

/* Reads up to the closing quote; a doubled quote stands for one. The opening quote was consumed. */
static bool take_quoted(struct parser *p, char quote, struct bytes *ret_text)
{
    struct text out;

    text_init(&out, p->arena, 64);
    while (p->at < p->text.len) {
        char c = p->text.ptr[p->at++];

        if (c == quote) {
            if (p->at == p->text.len || p->text.ptr[p->at] != quote) {
                *ret_text = out.len > 0 ? text_bytes(&out) : bytes_of("", 0);
                return true;
            }
            p->at++;
        }
        text_add_char(&out, c);
    }
    return fail(p, "unexpected end of query");
}

/* ---- comparisons ---- */

/* Returns the length of the UTF-8 character at `at`, including continuation bytes. */
static size_t character_length(struct bytes text, size_t at)
{
    size_t end = at + 1;

    while (end < text.len && ((unsigned char)text.ptr[end] & 0xC0) == 0x80)
        end++;
    return end - at;
}

/* Rejects characters that no tag can have. In a condition the length is not checked, as in the
 * service. decision: 265 */
static bool check_text(struct parser *p, struct bytes text, size_t max, const char *too_long)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!tags_may_have(text.ptr[i]))
            return fail(p, arena_printf(p->arena, "'%.*s' not permitted in tag name or value%c",
                                        (int)character_length(text, i), text.ptr + i, '\0')
                               .ptr);
    }
    return p->grammar == TAG_CONDITION || text.len <= max || fail(p, too_long);
}

static bool check_name(struct parser *p, struct bytes name)
{
    return check_text(p, name, TAG_NAME_MAX, "tag must be between 1 and 128 characters in length");
}

/* Keywords of the query language, in either case: as names they need quotes. decision: 78 */
static bool is_reserved(struct bytes name)
{
    static const char *const words[] = { "and", "or", "not", "year", "month", "day" };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (bytes_is_nocase(name, words[i]))
            return true;
    }
    return false;
}

static bool take_name(struct parser *p, struct tag_comparison *to)
{
    size_t begin;

    if (take(p, "\"")) {
        if (!take_quoted(p, '"', &to->name))
            return false;
        return to->name.len > 0 ? check_name(p, to->name)
                                : fail(p, "tag must be between 1 and 128 characters in length");
    }
    skip_blanks(p);
    begin = p->at;
    if (p->at < p->text.len && p->text.ptr[p->at] == '@')
        p->at++;
    while (p->at < p->text.len && is_word(p->text.ptr[p->at]))
        p->at++;
    to->name = bytes_of(p->text.ptr + begin, p->at - begin);
    if (to->name.len == 0 || is_reserved(to->name)) {
        p->at = begin;
        return fail_unexpected(p);
    }
    to->of_container = to->name.ptr[0] == '@';
    if (to->of_container && (p->grammar != TAG_SEARCH || !bytes_is(to->name, "@container")))
        return fail(
            p, arena_printf(p->arena, "unsupported parameter '%.*s'%c", BYTES_ARG(to->name), '\0')
                   .ptr);
    return to->of_container || check_name(p, to->name);
}

static bool take_operator(struct parser *p, enum tag_operator *ret_operator)
{
    /* Longer symbols come before their prefixes. */
    static const struct {
        const char *symbol;
        enum tag_operator operator;
    } symbols[] = {
        { "<>", TAG_NOT_EQUAL },  { "!=", TAG_NOT_EQUAL }, { ">=", TAG_GREATER_EQUAL },
        { "<=", TAG_LESS_EQUAL }, { "=", TAG_EQUAL },      { ">", TAG_GREATER },
        { "<", TAG_LESS },
    };

    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        if (!take(p, symbols[i].symbol))
            continue;
        *ret_operator = symbols[i].operator;
        if (p->grammar == TAG_SEARCH && *ret_operator == TAG_NOT_EQUAL)
            return fail(p, "unexpected '<>'");
        return true;
    }
    return fail_unexpected(p);
}

static bool is_lower_bound(enum tag_operator operator)
{
    return operator== TAG_GREATER || operator== TAG_GREATER_EQUAL;
}

static bool is_same_tag(const struct tag_comparison *a, const struct tag_comparison *b)
{
    return a->of_container == b->of_container && bytes_equal(a->name, b->name);
}

/* Returns the number of distinct tags in the comparisons so far. */
static size_t count_tags(const struct tag_expression *expression)
{
    size_t tags = 0;

    for (size_t i = 0; i < expression->count; i++) {
        const struct tag_comparison *at = &expression->comparisons[i];
        size_t first = 0;

        while (!is_same_tag(&expression->comparisons[first], at))
            first++;
        tags += first == i && !at->of_container;
    }
    return tags;
}

/* Checks that a search has one condition per tag, or the two ends of a range. */
static bool fits_search(struct parser *p, const struct tag_comparison *added)
{
    bool is_new = !added->of_container;

    if (added->of_container && added->operator!= TAG_EQUAL)
        return fail(p, "@container can only be compared by =");
    for (size_t i = 0; i < p->out->count; i++) {
        const struct tag_comparison *other = &p->out->comparisons[i];

        if (!is_same_tag(other, added))
            continue;
        if (other->operator== TAG_EQUAL || added->operator== TAG_EQUAL ||
            is_lower_bound(other->operator) == is_lower_bound(added->operator))
            return fail(p, "can't have multiple conditions for a single tag unless they define a "
                           "range");
        is_new = false;
    }
    if (is_new && count_tags(p->out) == TAG_OPERATIONS_MAX)
        return fail(p, "there can be at most 10 unique tags in a query");
    return true;
}

/* A container name may be any text; an invalid one just never matches. */
static bool check_value(struct parser *p, const struct tag_comparison *added)
{
    return added->of_container ||
           check_text(p, added->value, TAG_VALUE_MAX,
                      "tag value must be between 0 and 256 characters in length");
}

static bool take_comparison(struct parser *p)
{
    struct tag_comparison added = { .of_container = false };

    if (!take_name(p, &added) || !take_operator(p, &added.operator))
        return false;
    if (!take(p, "'"))
        return fail_unexpected(p);
    if (!take_quoted(p, '\'', &added.value) || !check_value(p, &added))
        return false;
    if (p->grammar == TAG_SEARCH && !fits_search(p, &added))
        return false;
    if (p->grammar == TAG_CONDITION && p->out->count == TAG_OPERATIONS_MAX)
        return fail(p, "there can be at most 10 comparisons in a condition");
    assert(p->out->count < TAG_COMPARISONS_MAX);
    p->out->steps[p->out->step_count++] = (uint8_t)p->out->count;
    p->out->comparisons[p->out->count++] = added;
    return true;
}

/* ---- the grammar ---- */

static bool take_expression(struct parser *p);

static bool take_term(struct parser *p)
{
    if (!take(p, "("))
        return take_comparison(p);
    if (p->depth == TAG_DEPTH_MAX)
        return fail(p, "there are too many parentheses");
    p->depth++;
    if (!take_expression(p))
        return false;
    p->depth--;
    return take(p, ")") || fail_unexpected(p);
}

static bool take_conjunction(struct parser *p)
{
    if (!take_term(p))
        return false;
    while (take_word(p, "and")) {
        if (!take_term(p))
            return false;
        p->out->steps[p->out->step_count++] = TAG_STEP_AND;
    }
    return true;
}

static bool take_expression(struct parser *p)
{
    if (!take_conjunction(p))
        return false;
    while (take_word(p, "or")) {
        if (p->grammar == TAG_SEARCH)
            return fail(p, "unexpected 'or'");
        if (!take_conjunction(p))
            return false;
        p->out->steps[p->out->step_count++] = TAG_STEP_OR;
    }
    return true;
}

bool tag_expression_parse(struct arena *arena, struct bytes text, enum tag_grammar grammar,
                          struct tag_expression *ret_expression, struct tag_syntax_error *ret_error)
{
    struct tag_expression expression = { .count = 0 };
    struct parser p = {
        .arena = arena, .text = text, .grammar = grammar, .out = &expression, .error = ret_error
    };

    if (!take_expression(&p))
        return false;
    skip_blanks(&p);
    if (p.at < text.len)
        return fail_unexpected(&p);
    assert(expression.count > 0 && expression.step_count == 2 * expression.count - 1);
    assert(p.depth == 0);
    *ret_expression = expression;
    return true;
}

/* ---- evaluation ---- */

bool tag_comparison_holds(const struct tag_comparison *comparison, struct bytes value)
{
    int order;

    if (!value.ptr)
        return false;
    order = bytes_compare(value, comparison->value);
    switch (comparison->operator) {
    case TAG_EQUAL:
        return order == 0;
    case TAG_NOT_EQUAL:
        return order != 0;
    case TAG_GREATER:
        return order > 0;
    case TAG_GREATER_EQUAL:
        return order >= 0;
    case TAG_LESS:
        return order < 0;
    case TAG_LESS_EQUAL:
        return order <= 0;
    }
    return false;
}

bool tag_expression_holds(const struct tag_expression *expression, struct bytes container,
                          struct bytes tags)
{
    bool stack[TAG_COMPARISONS_MAX];
    size_t height = 0;

    for (size_t i = 0; i < expression->step_count; i++) {
        uint8_t step = expression->steps[i];

        if (step == TAG_STEP_AND || step == TAG_STEP_OR) {
            bool right;

            assert(height >= 2);
            right = stack[--height];
            stack[height - 1] =
                step == TAG_STEP_AND ? stack[height - 1] && right : stack[height - 1] || right;
        } else {
            const struct tag_comparison *c = &expression->comparisons[step];

            assert(step < expression->count && height < TAG_COMPARISONS_MAX);
            stack[height++] =
                tag_comparison_holds(c, c->of_container ? container : tags_value(tags, c->name));
        }
    }
    assert(height == 1);
    return stack[0];
}
