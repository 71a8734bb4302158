/* Index tags, and expressions over them. tags.h, tag_expression.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "concurrency/tag_expression.h"

#define ARENA_CAP ((size_t)1 << 26)

/* ---- tags ---- */

static struct bytes run_of(struct arena *arena, size_t length, char c)
{
    char *to = arena_bytes(arena, length);

    memset(to, c, length);
    return bytes_of(to, length);
}

/* Rule: 1..128 characters of a name, 0..256 of a value, each of letters, digits and " +-./:=_"; no
 * name twice; ten. rest: Set-Blob-Tags "Remarks" */
static void tags_have_limits(void **state)
{
    struct arena *arena = arena_new(ARENA_CAP);
    struct tags tags = { .count = 0 };

    (void)state;
    for (int c = 0; c < 256; c++) {
        char text = (char)c;
        bool allowed = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       (c != 0 && strchr(" +-./:=_", c));

        tags.count = 0;
        assert_int_equal(tags_add(&tags, bytes_of(&text, 1), bytes_of("", 0)),
                         allowed ? OK : E_InvalidTag);
        tags.count = 0;
        assert_int_equal(tags_add(&tags, bytes_of("a", 1), bytes_of(&text, 1)),
                         allowed ? OK : E_InvalidTag);
    }
    tags.count = 0;
    assert_int_equal(tags_add(&tags, bytes_of(NULL, 0), bytes_of("v", 1)), E_EmptyTagName);
    assert_int_equal(tags_add(&tags, run_of(arena, 129, 'a'), bytes_of("v", 1)), E_TagsTooLarge);
    assert_int_equal(tags_add(&tags, bytes_of("a", 1), run_of(arena, 257, 'v')), E_TagsTooLarge);
    assert_int_equal(tags_add(&tags, run_of(arena, 128, 'a'), run_of(arena, 256, 'v')), OK);
    assert_int_equal(tags_add(&tags, run_of(arena, 128, 'a'), bytes_of("w", 1)),
                     E_DuplicateTagNames);
    assert_int_equal(tags_add(&tags, run_of(arena, 128, 'A'), bytes_of("w", 1)), OK);
    for (size_t i = tags.count; i < TAGS_MAX; i++)
        assert_int_equal(tags_add(&tags, run_of(arena, i, 'x'), bytes_of(NULL, 0)), OK);
    assert_int_equal(tags_add(&tags, bytes_of("more", 4), bytes_of("", 0)), E_TagsTooLarge);
    arena_free(arena);
}

/* Rule: x-ms-tags is a form-encoded list. rest: Put-Blob "x-ms-tags"; recorded */
static void tags_of_a_header(void **state)
{
    static const struct {
        const char *text;
        enum error error;
        const char *name, *value; /* of the last */
        size_t count;
    } rows[] = {
        { "", OK, NULL, NULL, 0 },
        { "a=b", OK, "a", "b", 1 },
        { "a=", OK, "a", "", 1 },
        { "a=b&c=d+e", OK, "c", "d e", 2 },
        { "key1=value1&key3%20%2B-./:%3D_=v1%20%2B-./:%3D_", OK, "key3 +-./:=_", "v1 +-./:=_", 2 },
        { "a=b=c", OK, "a", "b=c", 1 },
        { "a", E_InvalidTag, NULL, NULL, 0 },
        { "a=b&", OK, "a", "b", 1 },
        { "&a=b", E_InvalidTag, NULL, NULL, 0 },
        { "=b", E_EmptyTagName, NULL, NULL, 0 },
        { "a=%2", E_InvalidTag, NULL, NULL, 0 },
        { "a=%C3%A4", E_InvalidTag, NULL, NULL, 0 },
        { "a=1&a=2", E_DuplicateTagNames, NULL, NULL, 0 },
    };
    struct arena *arena = arena_new(ARENA_CAP);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tags tags = { .count = 0 }, again;
        struct bytes encoded;

        assert_int_equal(tags_from_query(arena, bytes_from_string(rows[i].text), &tags),
                         rows[i].error);
        if (rows[i].error)
            continue;
        encoded = tags_encode(arena, &tags);
        assert_int_equal(tags.count, rows[i].count);
        assert_int_equal(tags_count(encoded), rows[i].count);
        assert_true(tags_decode(encoded, &again));
        assert_int_equal(again.count, rows[i].count);
        if (rows[i].name)
            assert_true(
                bytes_is(tags_value(encoded, bytes_from_string(rows[i].name)), rows[i].value));
        assert_null(tags_value(encoded, bytes_from_string("none")).ptr);
    }
    arena_free(arena);
}

/* ---- expressions ---- */

static struct bytes encoded(struct arena *arena, const char *text)
{
    struct tags tags;

    assert_int_equal(tags_from_query(arena, bytes_from_string(text), &tags), OK);
    return tags_encode(arena, &tags);
}

static bool parses(struct arena *arena, const char *text, enum tag_grammar grammar,
                   struct tag_expression *ret)
{
    struct tag_syntax_error error = { .reason = NULL };
    bool ok = tag_expression_parse(arena, bytes_from_string(text), grammar, ret, &error);

    assert_true(ok || (error.reason && error.position <= strlen(text)));
    return ok;
}

/* Rule: what holds of which tags. rest: Specifying-Conditional-Headers-for-Blob-Service-Operations;
 * decision: 78 */
static void expressions_hold(void **state)
{
    static const struct {
        const char *text, *tags;
        bool holds;
    } rows[] = {
        { "a = 'b'", "a=b", true },
        { "\"a\" = 'b'", "a=b", true },
        { "\"a\"='b'", "a=c", false },
        { "a = 'b'", "", false },
        { "a = ''", "a=", true },
        { "a = ''", "", false },
        { "a <> 'b'", "a=c", true },
        { "a != 'b'", "a=c", true },
        { "a <> 'b'", "a=b", false },
        { "a <> 'b'", "", false },
        { "A = 'b'", "a=b", false },
        { "a = 'B'", "a=b", false },
        { "\"key3 +-./:=_\" = 'v1'", "key3%20%2B-./:%3D_=v1", true },
        { "\"a.b/c:d-e+f_1\" = 'x'", "a.b/c:d-e%2Bf_1=x", true },
        { "a_1 = 'x' and _b='y' and 2c='z'", "a_1=x&_b=y&2c=z", true },
        { "Years = 'x' and \"Year\" = '2020' and \"and\" = 'y'", "Years=x&Year=2020&and=y", true },
        { "a='1'and b='2'", "a=1&b=2", true },
        { "a='1' AND b='2' OR c='3'", "c=3", true },
        { "a='1' AND (b='2' OR c='3')", "c=3", false },
        { "a='1' AND (b='2' OR c='3')", "a=1&c=3", true },
        { "c='3' or a='1' and b='2'", "c=3", true },
        { "((a='1'))", "a=1", true },
        { "\"and\" = 'or'", "and=or", true },
        { "a > '10' and a <= '100'", "a=100", true },
        { "a > '10' and a <= '100'", "a=10", false },
        { "a > '10' and a <= '100'", "a=9", false },
        { "a >= 'A' and a < 'a'", "a=Z", true },
        { " \ta\t=\t'b' ", "a=b", true },
        { "a > '1' and a > '2' and a = '3'", "a=3", true },
    };
    struct arena *arena = arena_new(ARENA_CAP);
    struct tag_expression expression;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_true(parses(arena, rows[i].text, TAG_CONDITION, &expression));
        assert_int_equal(
            tag_expression_holds(&expression, bytes_of(NULL, 0), encoded(arena, rows[i].tags)),
            rows[i].holds);
    }
    arena_free(arena);
}

/* "t0='' and t1='' .." */
static const char *many(struct arena *arena, size_t tags, const char *operator, bool ranges)
{
    struct text out;

    text_init(&out, arena, 256);
    for (size_t i = 0; i < tags; i++) {
        text_printf(&out, "%st%zu%s''", i > 0 ? " and " : "", i, operator);
        if (ranges)
            text_printf(&out, " and t%zu<'z'", i);
    }
    text_add_char(&out, '\0');
    return out.ptr;
}

static const char *nested(struct arena *arena, size_t depth)
{
    struct text out;

    text_init(&out, arena, 256);
    for (size_t i = 0; i < depth; i++)
        text_add_char(&out, '(');
    text_add_string(&out, "a='1'");
    for (size_t i = 0; i < depth; i++)
        text_add_char(&out, ')');
    text_add_char(&out, '\0');
    return out.ptr;
}

/* Rule: what is no expression, or goes beyond the limits, is refused. */
static void others_are_refused(void **state)
{
    static const struct {
        const char *text;
        bool condition, search; /* may it be one? */
    } rows[] = {
        { "", false, false },
        { "a", false, false },
        { "a =", false, false },
        { "a = b", false, false },
        { "a = \"b\"", false, false },
        { "a = 'b", false, false },
        { "a = 'b' c", false, false },
        { "a = 'b' and", false, false },
        { "a = 'b' andc = 'd'", false, false },
        { "a = 'b' or", false, false },
        { "not a = 'b'", false, false },
        { "a-b = 'c'", false, false }, /* azure-cli issue 25596 */
        { "a.b = 'c'", false, false },
        { "Year = '2020'", false, false }, /* azure-sdk-for-net issue 18226 */
        { "a = 'b' and MONTH = '4'", false, false },
        { "and = 'or'", false, false },
        { "(a = 'b'", false, false },
        { "a = 'b')", false, false },
        { "()", false, false },
        { "a == 'b'", false, false },
        { "a = 'b' b = 'c'", false, false },
        { "\"\" = 'b'", false, false },
        { "\"a = 'b'", false, false },
        { "@other = 'b'", false, false },
        { "\xC3\xA4 = 'b'", false, false },
        { "a = 'b @'", false, false }, /* Azurite: "not permitted in tag name or value" */
        { "a = 'it''s'", false, false },
        { "a = '\xC3\xA4'", false, false },
        { "\"a\"\"b\" = 'c'", false, false },
        { "\"a*\" = 'c'", false, false },
        { "a = ' +-./:=_'", true, true },
        { "@container = '$web'", false, true },
        { "@container = 'b'", false, true },
        { "@container > 'b'", false, false },
        { "@container = 'b' and @container = 'c'", false, false },
        { "a = 'b' or c = 'd'", true, false },
        { "a <> 'b'", true, false },
        { "a != 'b'", true, false },
        { "a = '1' and a = '2'", true, false },
        { "a > '1' and a >= '2'", true, false },
        { "a < '1' and a <= '2'", true, false },
        { "a < '1' and a = '2'", true, false },
        { "a < '1' and a > '2'", true, true },
        { "a < '1' and a > '2' and a > '3'", true, false },
        { "(a = '1' and (b = '2')) and @container = 'c'", false, true },
    };
    struct arena *arena = arena_new(ARENA_CAP);
    struct tag_expression e;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(parses(arena, rows[i].text, TAG_CONDITION, &e), rows[i].condition);
        assert_int_equal(parses(arena, rows[i].text, TAG_SEARCH, &e), rows[i].search);
    }
    assert_true(parses(arena, many(arena, 10, "=", false), TAG_CONDITION, &e));
    assert_false(parses(arena, many(arena, 11, "=", false), TAG_CONDITION, &e));
    assert_true(parses(arena, many(arena, 10, ">", true), TAG_SEARCH, &e));
    assert_int_equal(e.count, 20);
    assert_false(parses(arena, many(arena, 11, ">", true), TAG_SEARCH, &e));
    assert_false(parses(arena, many(arena, 11, "=", false), TAG_SEARCH, &e));
    assert_true(parses(arena, nested(arena, TAG_DEPTH_MAX), TAG_CONDITION, &e));
    assert_false(parses(arena, nested(arena, TAG_DEPTH_MAX + 1), TAG_CONDITION, &e));
    arena_free(arena);
}

/* Rule: each operator, of a value below, at, above, and of none. */
static void operators_are_exact(void **state)
{
    static const struct {
        const char *symbol;
        bool holds[4]; /* of none, '1', '2', '3' against '2' */
    } rows[] = {
        { "=", { false, false, true, false } }, { "<>", { false, true, false, true } },
        { "!=", { false, true, false, true } }, { ">", { false, false, false, true } },
        { ">=", { false, false, true, true } }, { "<", { false, true, false, false } },
        { "<=", { false, true, true, false } },
    };
    static const char *const tags[] = { "", "a=1", "a=2", "a=3" };
    struct arena *arena = arena_new(ARENA_CAP);
    struct tag_expression e;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t k = 0; k < 4; k++) {
            const char *text = arena_string(arena, arena_printf(arena, "a %s '2'", rows[i].symbol));

            assert_true(parses(arena, text, TAG_CONDITION, &e));
            assert_int_equal(tag_expression_holds(&e, bytes_of(NULL, 0), encoded(arena, tags[k])),
                             rows[i].holds[k]);
        }
    arena_free(arena);
}

/* An oracle: a sum of products over one-letter names, '|' and '&', with parentheses; by splitting
 * the text at its last operator of the lowest rank outside of parentheses. */
static bool oracle(const char *text, size_t len, unsigned set)
{
    size_t split = len;
    char found = 0;
    int depth = 0;

    for (size_t i = 0; i < len; i++) {
        depth += (text[i] == '(') - (text[i] == ')');
        if (depth == 0 && (text[i] == '|' || (text[i] == '&' && found != '|'))) {
            split = i;
            found = text[i];
        }
    }
    if (found) {
        bool left = oracle(text, split, set);
        bool right = oracle(text + split + 1, len - split - 1, set);

        return found == '|' ? left || right : left && right;
    }
    return text[0] == '(' ? oracle(text + 1, len - 2, set) : (set >> (text[0] - 'a') & 1) != 0;
}

/* Rule: AND binds more than OR, parentheses most: groupings and operators of four terms, all of
 * them, over all tags. */
static void precedence_is_exact(void **state)
{
    static const char *const forms[] = { "a?b?c?d",     "(a?b)?c?d", "a?(b?c)?d",  "a?b?(c?d)",
                                         "(a?b)?(c?d)", "(a?b?c)?d", "a?(b?(c?d))" };
    struct arena *arena = arena_new(ARENA_CAP);

    (void)state;
    for (unsigned run = 0; run < 8 * sizeof forms / sizeof forms[0]; run++) {
        char shape[32];
        struct text text;
        struct tag_expression e;
        unsigned operators = run % 8;

        snprintf(shape, sizeof shape, "%s", forms[run / 8]);
        text_init(&text, arena, 64);
        for (char *at = shape; *at; at++) {
            if (*at == '?') {
                *at = operators & 1 ? '|' : '&';
                operators >>= 1;
                text_add_string(&text, *at == '|' ? " OR " : " AND ");
            } else if (*at == '(' || *at == ')') {
                text_add_char(&text, *at);
            } else {
                text_printf(&text, "%c='1'", *at);
            }
        }
        text_add_char(&text, '\0');
        assert_true(parses(arena, text.ptr, TAG_CONDITION, &e));
        for (unsigned set = 0; set < 16; set++) {
            struct bytes tags =
                arena_printf(arena, "%s%s%s%sz=1", set & 1 ? "a=1&" : "", set & 2 ? "b=1&" : "",
                             set & 4 ? "c=1&" : "", set & 8 ? "d=1&" : "");

            assert_int_equal(tag_expression_holds(&e, bytes_of(NULL, 0),
                                                  encoded(arena, arena_string(arena, tags))),
                             oracle(shape, strlen(shape), set));
        }
    }
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tags_have_limits),    cmocka_unit_test(tags_of_a_header),
        cmocka_unit_test(expressions_hold),    cmocka_unit_test(others_are_refused),
        cmocka_unit_test(operators_are_exact), cmocka_unit_test(precedence_is_exact),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
