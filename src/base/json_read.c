/* Reads JSON: see json.h. */
#include "base/json.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/words.h"

/* Maximum length of a number, which is copied for conversion. */
#define NUMBER_MAX 32

static void init(struct json_reader *reader, struct arena *arena, struct bytes text, unsigned depth,
                 char end)
{
    assert(depth <= JSON_DEPTH_MAX);
    *reader = (struct json_reader){ .arena = arena, .text = text, .depth = depth, .end = end };
    reader->bad = !bytes_is_utf8(text);
}

void json_object_init(struct json_reader *reader, struct arena *arena, struct bytes text,
                      unsigned depth)
{
    init(reader, arena, text, depth, '}');
}

void json_list_init(struct json_reader *reader, struct arena *arena, struct bytes text,
                    unsigned depth)
{
    init(reader, arena, text, depth, ']');
}

/* Returns the next character, or NUL at the end (NUL is invalid outside of strings). */
static char peek(const struct json_reader *o)
{
    return o->at < o->text.len ? o->text.ptr[o->at] : '\0';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_blanks(struct json_reader *o)
{
    while (is_blank(peek(o)))
        o->at++;
}

static bool take_now(struct json_reader *o, char c)
{
    if (peek(o) != c)
        return false;
    o->at++;
    return true;
}

static bool take(struct json_reader *o, char c)
{
    if (peek(o) != c)
        skip_blanks(o); /* usually nothing to skip */
    return take_now(o, c);
}

static bool take_word(struct json_reader *o, const char *word)
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

/* Reads the four digits after \u; returns -1 if they are not hexadecimal. */
static int take_unit(struct json_reader *o)
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

/* Reads the rest of an escape sequence after \u, and the second one of a surrogate pair. A single
 * surrogate is an error. */
static bool take_character(struct json_reader *o, struct text *out)
{
    int first = take_unit(o), second;

    if (first < 0 || (first >= 0xDC00 && first <= 0xDFFF))
        return false;
    if (first < 0xD800 || first > 0xDFFF) {
        text_add_code_point(out, (unsigned)first);
        return true;
    }
    if (!take_word(o, "\\u"))
        return false;
    second = take_unit(o);
    if (second < 0xDC00 || second > 0xDFFF)
        return false;
    text_add_code_point(out, 0x10000u + (unsigned)((first - 0xD800) << 10 | (second - 0xDC00)));
    return true;
}

/* Reads an escape sequence after its backslash. */
static bool take_escape(struct json_reader *o, struct text *out)
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

/* Returns the text up to the next quote, backslash or control character. */
static struct bytes plain_text(const struct json_reader *o)
{
    struct bytes left = bytes_from(o->text, o->at);

    return bytes_of(left.ptr, word_run(left, special));
}

/* Reads a string after its opening quote. */
static bool take_string(struct json_reader *o, struct bytes *ret_text)
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

static bool take_digits(struct json_reader *o)
{
    size_t begin = o->at;

    while (peek(o) >= '0' && peek(o) <= '9')
        o->at++;
    return o->at > begin;
}

/* rfc: 8259 6 */
static bool take_number(struct json_reader *o, struct bytes *ret_text)
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

/* Skips a string after its opening quote, with the checks of take_string(). */
static bool skip_string(struct json_reader *o)
{
    char scratch[4];
    struct text character;

    for (;;) {
        o->at += plain_text(o).len;
        if (peek(o) != '\\')
            return take_now(o, '"');
        o->at++;
        character = (struct text){ .ptr = scratch, .capacity = sizeof scratch };
        if (!take_escape(o, &character))
            return false;
    }
}

/* Reads a scalar other than a string. */
static bool take_plain(struct json_reader *o, struct json_member *to)
{
    switch (peek(o)) {
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

/* ---- nested values ---- */

/* Open objects and lists while a value is skipped, as one bit per level, which is set for an
 * object. */
struct levels {
    uint32_t objects;
    unsigned count, max;
};
_Static_assert(JSON_DEPTH_MAX <= 32, "a bit for each level");

static bool enter(struct json_reader *o, struct levels *levels)
{
    bool is_object = peek(o) == '{';

    if (levels->count == levels->max)
        return false;
    o->at++;
    levels->objects = levels->objects << 1 | is_object;
    levels->count++;
    return true;
}

/* Consumes closing brackets of all levels that end here. Returns true if there was one. */
static bool leave(struct json_reader *o, struct levels *levels)
{
    bool any = false;

    while (levels->count > 0 && take(o, levels->objects & 1 ? '}' : ']')) {
        levels->objects >>= 1;
        levels->count--;
        any = true;
    }
    return any;
}

static bool skip_name(struct json_reader *o, const struct levels *levels)
{
    return !(levels->objects & 1) || (take(o, '"') && skip_string(o) && take(o, ':'));
}

/* Skips an object or list with everything in it. Not recursive, because the sender of the text
 * chooses its depth. */
static bool skip_value(struct json_reader *o, unsigned depth)
{
    struct levels levels = { .max = depth };
    struct json_member scalar;
    bool is_complete; /* the skipped value has ended; otherwise its members follow */

    for (;;) {
        bool entered = peek(o) == '{' || peek(o) == '[';

        if (entered && !enter(o, &levels))
            return false;
        if (!entered && !(take_now(o, '"') ? skip_string(o) : take_plain(o, &scalar)))
            return false;
        is_complete = leave(o, &levels) || !entered;
        if (levels.count == 0)
            return true;
        if ((is_complete && !take(o, ',')) || !skip_name(o, &levels))
            return false;
        skip_blanks(o);
    }
}

static bool take_value(struct json_reader *o, struct json_member *to)
{
    size_t begin;

    skip_blanks(o);
    to->text = bytes_of(NULL, 0);
    begin = o->at;
    switch (peek(o)) {
    case '"':
        o->at++;
        to->kind = JSON_STRING;
        return take_string(o, &to->text);
    case '{':
    case '[':
        to->kind = peek(o) == '{' ? JSON_OBJECT : JSON_LIST;
        if (!skip_value(o, o->depth))
            return false;
        to->text = bytes_of(o->text.ptr + begin, o->at - begin);
        return true;
    default:
        return take_plain(o, to);
    }
}

static bool take_member(struct json_reader *o, struct json_member *to)
{
    if (o->end == '}' && !(take(o, '"') && take_string(o, &to->name) && take(o, ':')))
        return false;
    return take_value(o, to);
}

bool json_next(struct json_reader *reader, struct json_member *ret_member)
{
    struct json_member member = { .kind = JSON_NULL };
    bool first = !reader->begun;

    if (reader->bad || reader->ended)
        return false;
    reader->begun = true;
    if (first && !take(reader, reader->end == '}' ? '{' : '[')) {
        reader->bad = true;
        return false;
    }
    if (take(reader, reader->end)) {
        skip_blanks(reader);
        reader->ended = true;
        reader->bad = reader->at < reader->text.len;
        return false;
    }
    if (!first && !take(reader, ',')) {
        reader->bad = true;
        return false;
    }
    skip_blanks(reader);
    member.at = reader->text.ptr + reader->at;
    if (!take_member(reader, &member)) {
        reader->bad = true;
        return false;
    }
    *ret_member = member;
    return true;
}

/* ---- selected members of an object ---- */

bool json_object_pick(struct arena *arena, struct bytes text, unsigned depth,
                      const char *const names[], size_t count, struct json_member *ret_members)
{
    struct json_reader reader;
    struct json_member member;

    for (size_t i = 0; i < count; i++)
        ret_members[i] = (struct json_member){ .kind = JSON_ABSENT };
    json_object_init(&reader, arena, text, depth);
    while (json_next(&reader, &member)) {
        for (size_t i = 0; i < count; i++) {
            if (!bytes_is(member.name, names[i]))
                continue;
            if (ret_members[i].kind != JSON_ABSENT)
                return false;
            ret_members[i] = member;
        }
    }
    return !reader.bad;
}

struct bytes json_text(const struct json_member *member)
{
    if (member->kind != JSON_STRING || member->text.len == 0)
        return bytes_of(NULL, 0);
    return member->text;
}

bool json_number(const struct json_member *member, double *ret_value)
{
    char buffer[NUMBER_MAX + 1];
    double value;

    if (member->kind != JSON_NUMBER || member->text.len > NUMBER_MAX)
        return false;
    memcpy(buffer, member->text.ptr, member->text.len);
    buffer[member->text.len] = '\0';
    value = strtod(buffer, NULL); /* no locale is ever set */
    if (!isfinite(value))
        return false;
    *ret_value = value;
    return true;
}
