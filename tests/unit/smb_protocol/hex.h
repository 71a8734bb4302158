/* Bytes from hexadecimal text, in which spaces do not count. */
#ifndef LAGRA_TESTS_HEX_H
#define LAGRA_TESTS_HEX_H

#include <stdlib.h>

#include "base/arena.h"

static inline struct bytes unhex(struct arena *arena, const char *text)
{
    char *bytes = arena_bytes(arena, strlen(text) / 2 + 1);
    size_t digits = 0;
    int value = 0;

    for (; *text; text++) {
        int digit = bytes_hex_digit(*text);

        if (*text == ' ')
            continue;
        if (digit < 0)
            abort();
        value = value << 4 | digit;
        if (++digits % 2 == 0) {
            bytes[digits / 2 - 1] = (char)value;
            value = 0;
        }
    }
    return bytes_of(bytes, digits / 2);
}

#endif
