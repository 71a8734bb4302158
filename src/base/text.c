/* Appends numbers, characters and printf() output to a text, which grows in its arena (arena.c). */
#include <assert.h>
#include <stdio.h>

#include "base/arena.h"

void text_add_code_point(struct text *text, uint32_t c)
{
    if (c < 0x80) {
        text_add_char(text, (char)c);
        return;
    }
    if (c < 0x800) {
        text_add_char(text, (char)(0xC0 | c >> 6));
    } else {
        if (c < 0x10000) {
            text_add_char(text, (char)(0xE0 | c >> 12));
        } else {
            text_add_char(text, (char)(0xF0 | c >> 18));
            text_add_char(text, (char)(0x80 | (c >> 12 & 0x3F)));
        }
        text_add_char(text, (char)(0x80 | (c >> 6 & 0x3F)));
    }
    text_add_char(text, (char)(0x80 | (c & 0x3F)));
}

void text_add_u64(struct text *text, uint64_t value)
{
    char digits[DECIMAL_DIGITS];

    text_add(text, bytes_decimal(value, digits));
}

void text_add_i64(struct text *text, int64_t value)
{
    if (value < 0)
        text_add_char(text, '-');
    text_add_u64(text, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void text_printf(struct text *text, const char *format, ...)
{
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    assert(length >= 0);
    text_reserve(text, (size_t)length + 1);
    va_start(args, format);
    (void)vsnprintf(text->ptr + text->len, (size_t)length + 1, format, args);
    va_end(args);
    text->len += (size_t)length;
}
