/* Writing JSON: see json.h. */
#include "base/json.h"

#include "base/words.h"

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
