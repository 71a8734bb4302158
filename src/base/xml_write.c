/* XML output. */
#include "base/xml.h"

#include "base/words.h"

void xml_begin(struct text *out)
{
    text_add_string(out, "\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"utf-8\"?>");
}

void xml_open(struct text *out, const char *name)
{
    text_add_char(out, '<');
    text_add_string(out, name);
    text_add_char(out, '>');
}

void xml_close(struct text *out, const char *name)
{
    text_add_string(out, "</");
    text_add_string(out, name);
    text_add_char(out, '>');
}

/* Returns the escape sequence for c, or NULL if it needs none. XML 1.0 (2.2) allows only tab, line
 * feed and carriage return among the control characters; readers would convert a raw CR to a line
 * feed. */
static const char *escape_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\r':
        return "&#xD;";
    case '\t':
    case '\n':
        return NULL;
    default:
        return (unsigned char)c < 0x20 ? "\xEF\xBF\xBD" : NULL; /* U+FFFD */
    }
}

static void escape_ascii(struct text *out, struct bytes value)
{
    size_t plain_from = 0;

    for (size_t i = 0; i < value.len; i++) {
        const char *escape = escape_of(value.ptr[i]);

        if (!escape)
            continue;
        text_add(out, bytes_of(value.ptr + plain_from, i - plain_from));
        text_add_string(out, escape);
        plain_from = i + 1;
    }
    text_add(out, bytes_from(value, plain_from));
}

/* Decodes a header value as Latin-1, so that a blob with non-UTF-8 header values does not make the
 * listing invalid XML. */
static struct bytes from_latin1(struct arena *arena, struct bytes value)
{
    struct text utf8;

    text_init(&utf8, arena, 2 * value.len);
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.ptr[i];

        if (c >= 0x80)
            text_add_char(&utf8, (char)(0xC0 | c >> 6));
        text_add_char(&utf8, (char)(c >= 0x80 ? 0x80 | (c & 0x3F) : c));
    }
    return text_bytes(&utf8);
}

/* Escapes valid UTF-8. U+FFFE and U+FFFF are not XML characters. */
static void escape_utf8(struct text *out, struct bytes value)
{
    struct bytes rest = value;

    for (size_t i = 0; i + 2 < rest.len; i++) {
        if (memcmp(rest.ptr + i, "\xEF\xBF\xBE", 3) != 0 &&
            memcmp(rest.ptr + i, "\xEF\xBF\xBF", 3) != 0)
            continue;
        escape_ascii(out, bytes_of(rest.ptr, i));
        text_add_string(out, "\xEF\xBF\xBD");
        rest = bytes_from(rest, i + 3);
        i = (size_t)-1;
    }
    escape_ascii(out, rest);
}

static bool is_ascii(struct bytes value)
{
    for (size_t i = 0; i < value.len; i++) {
        if ((unsigned char)value.ptr[i] >= 0x80)
            return false;
    }
    return true;
}

static bool is_plain_word(word_bytes text)
{
    return !word_any(word_below(text, 0x20) | word_not_ascii(text) | word_equal(text, '&') |
                     word_equal(text, '<') | word_equal(text, '>') | word_equal(text, '"'));
}

static bool is_plain_byte(char c)
{
    return !escape_of(c) && (unsigned char)c < 0x80;
}

/* Returns true if no character needs escaping in either encoding. */
static bool is_plain(struct bytes value)
{
    size_t i = 0;

    while (value.len - i >= WORD_BYTES && is_plain_word(word_load(value.ptr + i)))
        i += WORD_BYTES;
    while (i < value.len && is_plain_byte(value.ptr[i]))
        i++;
    return i == value.len;
}

void xml_escape(struct text *out, struct bytes value)
{
    if (is_plain(value))
        text_add(out, value);
    else if (is_ascii(value))
        escape_ascii(out, value);
    else if (bytes_is_utf8(value))
        escape_utf8(out, value);
    else
        escape_ascii(out, from_latin1(out->arena, value));
}

void xml_element(struct text *out, const char *name, struct bytes value)
{
    if (value.len == 0) {
        text_add_char(out, '<');
        text_add_string(out, name);
        text_add_string(out, " />");
        return;
    }
    xml_open(out, name);
    xml_escape(out, value);
    xml_close(out, name);
}

void xml_element_string(struct text *out, const char *name, const char *value)
{
    xml_element(out, name, bytes_from_string(value));
}

void xml_element_u64(struct text *out, const char *name, uint64_t value)
{
    xml_open(out, name);
    text_add_u64(out, value);
    xml_close(out, name);
}

void xml_element_http_date(struct text *out, const char *name, instant date)
{
    char text[INSTANT_HTTP_SIZE];

    instant_format_http(date, text);
    xml_element_string(out, name, text);
}

void xml_element_iso_date(struct text *out, const char *name, instant date)
{
    char text[INSTANT_ISO_SIZE];

    instant_format_iso(date, text);
    xml_element_string(out, name, text);
}
