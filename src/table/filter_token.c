/* Tokens: see filter_token.h. */
#include "table/filter_token.h"

#include "base/encode.h"
#include "table/edm.h"

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (uint8_t)c >= 0x80;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r'); /* tab, line feed and similar */
}

static char at_or_nul(struct bytes text, size_t at)
{
    return at < text.len ? text.ptr[at] : '\0';
}

/* ---- quoted literals ---- */

/* Returns the text of a quoted literal that starts at `at`, with doubled quotes reduced; *ret_end
 * is the position after it. Returns ptr NULL if the closing quote is missing. */
static struct bytes read_quoted(struct arena *arena, struct bytes text, size_t at, size_t *ret_end)
{
    struct text out;
    size_t begin = at + 1;

    text_init(&out, arena, 32);
    for (size_t i = begin; i < text.len; i++) {
        if (text.ptr[i] != '\'')
            continue;
        text_add(&out, bytes_of(text.ptr + begin, i - begin));
        if (at_or_nul(text, i + 1) != '\'') {
            *ret_end = i + 1;
            return out.len > 0 ? text_bytes(&out) : bytes_of("", 0);
        }
        begin = ++i; /* the second quote of a pair */
    }
    return bytes_of(NULL, 0);
}

/* Converts pairs of hexadecimal digits to bytes. */
static bool parse_hex(struct arena *arena, struct bytes digits, struct bytes *ret_bytes)
{
    char *to = arena_bytes(arena, digits.len / 2 + 1);

    if (digits.len % 2 != 0)
        return false;
    for (size_t i = 0; i < digits.len; i += 2) {
        int high = bytes_hex_digit(digits.ptr[i]), low = bytes_hex_digit(digits.ptr[i + 1]);

        if (high < 0 || low < 0)
            return false;
        to[i / 2] = (char)(high << 4 | low);
    }
    *ret_bytes = bytes_of(to, digits.len / 2);
    return true;
}

static bool parse_quoted(struct arena *arena, struct bytes text, struct edm_value *to)
{
    switch (to->type) {
    case EDM_STRING:
        to->as.bytes = text;
        return true;
    case EDM_DATETIME: /* dates outside the range of entities are allowed in comparisons */
        return edm_parse_datetime(text, &to->as.time) != EDM_MALFORMED;
    case EDM_GUID:
        return guid_parse(text, &to->as.guid);
    case EDM_BINARY:
        return parse_hex(arena, text, &to->as.bytes);
    case EDM_INT32:
    case EDM_INT64:
    case EDM_DOUBLE:
    case EDM_BOOLEAN:
    case EDM_TYPES:
        break;
    }
    return false;
}

/* Returns the type for a prefix of a quoted literal. */
static enum edm_type quoted_type(struct bytes word)
{
    static const struct {
        const char *word;
        enum edm_type type;
    } rows[] = { { "", EDM_STRING },  { "datetime", EDM_DATETIME }, { "guid", EDM_GUID },
                 { "X", EDM_BINARY }, { "x", EDM_BINARY },          { "binary", EDM_BINARY } };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (bytes_is(word, rows[i].word))
            return rows[i].type;
    return EDM_TYPES;
}

/* ---- numbers and words ---- */

/* Parses 12, -12, 12L, 1.5, 1e-3, 12d. */
static bool parse_number(struct bytes text, struct edm_value *to)
{
    char last = text.ptr[text.len - 1];
    struct bytes digits = bytes_of(text.ptr, text.len - 1);

    if (last == 'L' || last == 'l') {
        to->type = EDM_INT64;
        return edm_parse_integer(digits, INT64_MIN, INT64_MAX, &to->as.integer);
    }
    if (last == 'd' || last == 'D') {
        to->type = EDM_DOUBLE;
        return edm_parse_double(digits, &to->as.real);
    }
    for (size_t i = 0; i < text.len; i++)
        if (strchr(".eE", text.ptr[i])) {
            to->type = EDM_DOUBLE;
            return edm_parse_double(text, &to->as.real);
        }
    to->type = EDM_INT32;
    return edm_parse_integer(text, INT32_MIN, INT32_MAX, &to->as.integer);
}

static struct token read_number(struct bytes text, size_t at)
{
    struct token token = { .kind = TOKEN_LITERAL, .at = at };
    size_t end = at + 1;

    while (
        is_word(at_or_nul(text, end)) || at_or_nul(text, end) == '.' ||
        (strchr("+-", at_or_nul(text, end)) && end < text.len && strchr("eE", text.ptr[end - 1])))
        end++;
    token.text = bytes_of(text.ptr + at, end - at);
    if (!parse_number(token.text, &token.value))
        token.kind = TOKEN_BAD;
    token.type = token.value.type;
    return token;
}

/* Parses literal words, Booleans in either case; "-INF" is read as a number first. */
static bool is_literal_word(struct bytes word, struct edm_value *to)
{
    static const struct {
        struct bytes word;
        struct edm_value value;
    } rows[] = {
        { BYTES("true"), { .type = EDM_BOOLEAN, .as.boolean = true } },
        { BYTES("false"), { .type = EDM_BOOLEAN, .as.boolean = false } },
        { BYTES("NaN"), { .type = EDM_DOUBLE, .as.real = __builtin_nan("") } },
        { BYTES("INF"), { .type = EDM_DOUBLE, .as.real = __builtin_inf() } },
        { BYTES("-INF"), { .type = EDM_DOUBLE, .as.real = -__builtin_inf() } },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].value.type == EDM_BOOLEAN ? bytes_equal_nocase(word, rows[i].word)
                                              : bytes_equal(word, rows[i].word)) {
            *to = rows[i].value;
            return true;
        }
    return false;
}

static struct token read_word(struct arena *arena, struct bytes text, size_t at)
{
    struct token token = { .kind = TOKEN_WORD, .at = at, .type = EDM_TYPES };
    size_t end = at + (text.ptr[at] == '-');
    struct bytes quoted;

    while (is_word(at_or_nul(text, end)))
        end++;
    token.text = bytes_of(text.ptr + at, end - at);
    if (at_or_nul(text, end) == '\'') {
        token.type = quoted_type(token.text);
        token.value.type = token.type;
        quoted = read_quoted(arena, text, end, &end);
        token.kind =
            quoted.ptr && parse_quoted(arena, quoted, &token.value) ? TOKEN_LITERAL : TOKEN_BAD;
        token.text = bytes_of(text.ptr + at, end - at);
    } else if (is_literal_word(token.text, &token.value)) {
        token.kind = TOKEN_LITERAL;
    } else if (token.text.len == 0 || text.ptr[at] == '-') {
        token.kind = TOKEN_BAD;
    }
    return token;
}

struct token token_read(struct arena *arena, struct bytes text, size_t at)
{
    char c;

    while (at < text.len && is_space(text.ptr[at]))
        at++;
    if (at == text.len)
        return (struct token){ .kind = TOKEN_END, .at = at, .text = bytes_of("", 0) };
    c = text.ptr[at];
    if (c == '(' || c == ')')
        return (struct token){ .kind = c == '(' ? TOKEN_OPEN : TOKEN_CLOSE,
                               .at = at,
                               .text = bytes_of(text.ptr + at, 1) };
    if (is_digit(c) || (c == '-' && is_digit(at_or_nul(text, at + 1))))
        return read_number(text, at);
    return read_word(arena, text, at);
}
