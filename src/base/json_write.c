/* Writes JSON: see json.h. */
#include "base/json.h"

#include <assert.h>

#include "base/words.h"

/* Reserves `more` bytes at once, because a log line has many short strings. */
static char *begin_run(struct text *to, size_t more)
{
    text_reserve(to, more);
    return to->ptr + to->len;
}

static void end_run(struct text *to, const char *end)
{
    to->len = (size_t)(end - to->ptr);
}

static void write_unit(struct text *out, unsigned unit)
{
    static const char hex[] = "0123456789abcdef";
    const char escape[] = {
        '\\', 'u', hex[unit >> 12 & 15], hex[unit >> 8 & 15], hex[unit >> 4 & 15], hex[unit & 15]
    };

    text_add(out, bytes_of(escape, sizeof escape));
}

/* Removes the first character, which needs escaping, and writes it as one or two code units. */
static void write_escaped(struct text *out, struct bytes *text)
{
    static const char letters[] = "\"\\bfnrt", values[] = "\"\\\b\f\n\r\t";
    uint32_t c = bytes_take_code_point(text);
    const char *value = c != 0 && c < 0x80 ? strchr(values, (char)c) : NULL;

    if (value) {
        text_add_char(out, '\\');
        text_add_char(out, letters[value - values]);
        return;
    }
    if (c >= 0x10000) {
        write_unit(out, 0xD7C0 + (c >> 10));
        c = 0xDC00 | (c & 0x3FF);
    }
    write_unit(out, c);
}

/* Tests for quotes, backslashes, and everything except printable ASCII; U+007F counts as
 * printable. */
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
        write_escaped(out, &text);
    }
}

void json_write_string(struct text *out, struct bytes text)
{
    char *to = begin_run(out, text.len + 2);

    /* The usual case. */
    if (text.len > 0 && word_run(text, not_plain) == text.len) {
        *to++ = '"';
        memcpy(to, text.ptr, text.len);
        to += text.len;
        *to++ = '"';
        end_run(out, to);
        return;
    }
    text_add_char(out, '"');
    json_write_text(out, text);
    text_add_char(out, '"');
}

/* ---- objects and lists ---- */

static void separate(struct json_writer *writer)
{
    if (writer->follows)
        text_add_char(writer->to, ',');
    writer->follows = true;
}

void json_write_begin(struct json_writer *writer, char bracket)
{
    separate(writer);
    text_add_char(writer->to, bracket);
    writer->follows = false;
}

void json_write_end(struct json_writer *writer, char bracket)
{
    text_add_char(writer->to, bracket);
    writer->follows = true;
}

void json_write_name(struct json_writer *writer, const char *name)
{
    size_t length = strlen(name);
    char *to = begin_run(writer->to, length + sizeof ",\"\":");

    if (writer->follows)
        *to++ = ',';
    *to++ = '"';
    memcpy(to, name, length);
    to += length;
    *to++ = '"';
    *to++ = ':';
    end_run(writer->to, to);
    writer->follows = false;
}

void json_write_member(struct json_writer *writer, const char *name, struct bytes text)
{
    json_write_name(writer, name);
    json_write_string(writer->to, text);
    writer->follows = true;
}

void json_write_number(struct json_writer *writer, const char *name, uint64_t number)
{
    json_write_name(writer, name);
    text_add_u64(writer->to, number);
    writer->follows = true;
}

void json_write_bool(struct json_writer *writer, const char *name, bool is_true)
{
    json_write_name(writer, name);
    text_add_string(writer->to, is_true ? "true" : "false");
    writer->follows = true;
}

/* ---- json rows ---- */

static const char *say(struct arena *arena, const char *name, const char *what, struct bytes member)
{
    return arena_string(arena,
                        arena_printf(arena, "%s %s \"%.*s\"", name, what, BYTES_ARG(member)));
}

const char *json_rows_read(struct json_reader *reader, const char *name,
                           const struct json_row *rows, size_t count, void *context,
                           const char **problem)
{
    struct json_member member;
    uint32_t seen = 0;

    assert(count <= JSON_ROWS_MAX);
    while (!*problem && json_next(reader, &member)) {
        size_t i = 0;

        while (i < count && !bytes_is(member.name, rows[i].name))
            i++;
        if (i < count && (seen >> i & 1) == 0) {
            rows[i].read(context, rows[i].name, &member);
            seen |= UINT32_C(1) << i;
            continue;
        }
        *problem = say(reader->arena, name, i < count ? "has twice the member" : "has no member",
                       member.name);
        return member.at;
    }
    if (*problem || !reader->bad)
        return NULL;
    *problem = "this is not valid JSON";
    return reader->text.ptr + reader->at;
}
