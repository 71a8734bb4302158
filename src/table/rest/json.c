/* JSON: see json.h. */
#include "table/rest/json.h"

#include "base/words.h"

#include <assert.h>

void json_object_init(struct json_object *object, struct arena *arena, struct bytes text)
{
    *object = (struct json_object){ .arena = arena, .text = text };
    object->bad = !bytes_is_utf8(text);
}

/* The next character; NUL at the end, which is no character of JSON outside of strings. */
static char peek(const struct json_object *o)
{
    return o->at < o->text.len ? o->text.ptr[o->at] : '\0';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_blanks(struct json_object *o)
{
    while (is_blank(peek(o)))
        o->at++;
}

static bool take(struct json_object *o, char c)
{
    if (peek(o) != c)
        skip_blanks(o); /* mostly there are none */
    if (peek(o) != c)
        return false;
    o->at++;
    return true;
}

static bool take_word(struct json_object *o, const char *word)
{
    struct bytes expected = bytes_from_string(word);

    if (!bytes_has_prefix(bytes_from(o->text, o->at), expected))
        return false;
    o->at += expected.len;
    return true;
}

/* ---- strings ---- */

/* Quotes, backslashes and control characters. */
static word_bytes special(word_bytes text)
{
    return word_below(text, 0x20) | word_equal(text, '"') | word_equal(text, '\\');
}

/* The four digits behind \u; -1: they are none. */
static int take_unit(struct json_object *o)
{
    int unit = 0;

    if (o->text.len - o->at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = bytes_hex_digit(o->text.ptr[o->at++]);

        if (digit < 0)
            return -1;
        unit = unit << 4 | digit;
    }
    return unit;
}

static void add_utf8(struct text *out, unsigned c)
{
    if (c < 0x80) {
        text_add_char(out, (char)c);
        return;
    }
    if (c < 0x800) {
        text_add_char(out, (char)(0xC0 | c >> 6));
    } else {
        if (c < 0x10000) {
            text_add_char(out, (char)(0xE0 | c >> 12));
        } else {
            text_add_char(out, (char)(0xF0 | c >> 18));
            text_add_char(out, (char)(0x80 | (c >> 12 & 0x3F)));
        }
        text_add_char(out, (char)(0x80 | (c >> 6 & 0x3F)));
    }
    text_add_char(out, (char)(0x80 | (c & 0x3F)));
}

/* What stands behind \u: a character, or a pair of surrogates. Half a pair is no character. */
static bool take_character(struct json_object *o, struct text *out)
{
    int first = take_unit(o), second;

    if (first < 0 || (first >= 0xDC00 && first <= 0xDFFF))
        return false;
    if (first < 0xD800 || first > 0xDFFF) {
        add_utf8(out, (unsigned)first);
        return true;
    }
    if (!take_word(o, "\\u"))
        return false;
    second = take_unit(o);
    if (second < 0xDC00 || second > 0xDFFF)
        return false;
    add_utf8(out, 0x10000u + (unsigned)((first - 0xD800) << 10 | (second - 0xDC00)));
    return true;
}

/* What stands behind a backslash. */
static bool take_escape(struct json_object *o, struct text *out)
{
    static const char letters[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *letter;
    char c = peek(o);

    o->at++;
    if (c == 'u')
        return take_character(o, out);
    letter = c != '\0' ? strchr(letters, c) : NULL;
    if (!letter)
        return false;
    text_add_char(out, values[letter - letters]);
    return true;
}

/* What stands up to the next quote, backslash or control character. */
static struct bytes plain_text(const struct json_object *o)
{
    struct bytes left = bytes_from(o->text, o->at);

    return bytes_of(left.ptr, word_run(left, special));
}

/* A string whose opening quote was taken. */
static bool take_string(struct json_object *o, struct bytes *ret_text)
{
    struct bytes plain = plain_text(o);
    struct text out;

    o->at += plain.len;
    if (peek(o) == '"') {
        o->at++;
        *ret_text = plain;
        return true;
    }
    text_init(&out, o->arena, 2 * plain.len + 16);
    text_add(&out, plain);
    while (peek(o) == '\\') {
        o->at++;
        if (!take_escape(o, &out))
            return false;
        plain = plain_text(o);
        text_add(&out, plain);
        o->at += plain.len;
    }
    if (peek(o) != '"')
        return false;
    o->at++;
    *ret_text = text_bytes(&out);
    return true;
}

/* ---- other values ---- */

static bool take_digits(struct json_object *o)
{
    size_t begin = o->at;

    while (peek(o) >= '0' && peek(o) <= '9')
        o->at++;
    return o->at > begin;
}

/* rfc: 8259 6 */
static bool take_number(struct json_object *o, struct bytes *ret_text)
{
    size_t begin = o->at;

    if (peek(o) == '-')
        o->at++;
    if (peek(o) == '0')
        o->at++;
    else if (!take_digits(o))
        return false;
    if (peek(o) == '.') {
        o->at++;
        if (!take_digits(o))
            return false;
    }
    if (peek(o) == 'e' || peek(o) == 'E') {
        o->at++;
        if (peek(o) == '+' || peek(o) == '-')
            o->at++;
        if (!take_digits(o))
            return false;
    }
    *ret_text = bytes_of(o->text.ptr + begin, o->at - begin);
    return true;
}

static bool take_value(struct json_object *o, struct json_member *to)
{
    skip_blanks(o);
    to->text = bytes_of(NULL, 0);
    switch (peek(o)) {
    case '"':
        o->at++;
        to->kind = JSON_STRING;
        return take_string(o, &to->text);
    case 't':
        to->kind = JSON_TRUE;
        return take_word(o, "true");
    case 'f':
        to->kind = JSON_FALSE;
        return take_word(o, "false");
    case 'n':
        to->kind = JSON_NULL;
        return take_word(o, "null");
    default:
        to->kind = JSON_NUMBER;
        return take_number(o, &to->text);
    }
}

static bool take_member(struct json_object *o, struct json_member *to)
{
    return take(o, '"') && take_string(o, &to->name) && take(o, ':') && take_value(o, to);
}

bool json_object_next(struct json_object *object, struct json_member *ret_member)
{
    struct json_member member = { .kind = JSON_NULL };
    bool first = !object->begun;

    if (object->bad || object->ended)
        return false;
    object->begun = true;
    if (first && !take(object, '{')) {
        object->bad = true;
        return false;
    }
    if (take(object, '}')) {
        skip_blanks(object);
        object->ended = true;
        object->bad = object->at < object->text.len;
        return false;
    }
    if ((!first && !take(object, ',')) || !take_member(object, &member)) {
        object->bad = true;
        return false;
    }
    *ret_member = member;
    return true;
}

/* ---- writing ---- */

static void write_unit(struct text *out, unsigned unit)
{
    static const char hex[] = "0123456789abcdef";
    const char escape[] = {
        '\\', 'u', hex[unit >> 12 & 15], hex[unit >> 8 & 15], hex[unit >> 4 & 15], hex[unit & 15]
    };

    text_add(out, bytes_of(escape, sizeof escape));
}

/* One character that is not plain, in its one or two code units; returns its bytes. */
static size_t write_escaped(struct text *out, const char *at)
{
    static const char letters[] = "\"\\bfnrt", values[] = "\"\\\b\f\n\r\t";
    const char *value = *at != '\0' ? strchr(values, *at) : NULL;
    uint8_t first = (uint8_t)*at;
    size_t size = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    unsigned c = size == 1 ? first : first & (0xFFu >> (size + 1));

    if (value) {
        text_add_char(out, '\\');
        text_add_char(out, letters[value - values]);
        return 1;
    }
    for (size_t i = 1; i < size; i++)
        c = c << 6 | ((uint8_t)at[i] & 0x3F);
    if (c >= 0x10000) {
        write_unit(out, 0xD7C0 + (c >> 10));
        c = 0xDC00 | (c & 0x3FF);
    }
    write_unit(out, c);
    return size;
}

/* Quotes, backslashes, and what is not printable ASCII; U+007F is taken for printable. */
static word_bytes not_plain(word_bytes text)
{
    return word_not_visible_ascii(text) | word_equal(text, '"') | word_equal(text, '\\');
}

void json_write_text(struct text *out, struct bytes text)
{
    for (;;) {
        size_t plain = word_run(text, not_plain);

        text_add(out, bytes_of(text.ptr, plain));
        text = bytes_from(text, plain);
        if (text.len == 0)
            return;
        text = bytes_from(text, write_escaped(out, text.ptr));
    }
}

void json_write_string(struct text *out, struct bytes text)
{
    text_add_char(out, '"');
    json_write_text(out, text);
    text_add_char(out, '"');
}
