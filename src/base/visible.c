/* See visible.h. */
#include "base/visible.h"

#include <stdio.h>

#define SHOWN_BYTES 4u /* \xNN */

/* Returns the length of the control character at the start of `from`, or 0 if it is another
 * character. */
static size_t control_length(struct bytes from)
{
    unsigned char first = (unsigned char)from.ptr[0];

    if (first < 0x20 || first == 0x7F)
        return 1;
    return first == 0xC2 && from.len > 1 && ((unsigned char)from.ptr[1] & 0xE0) == 0x80 ? 2 : 0;
}

static void show(char to[SHOWN_BYTES], unsigned char c)
{
    static const char hex[] = "0123456789abcdef";

    to[0] = '\\';
    to[1] = 'x';
    to[2] = hex[c >> 4];
    to[3] = hex[c & 15];
}

size_t visible_copy(char *to, size_t size, struct bytes from)
{
    size_t used = 0;

    while (from.len > 0) {
        size_t controls = control_length(from);

        if (size - used < (controls > 0 ? controls * SHOWN_BYTES : 1))
            break;
        if (controls == 0)
            to[used++] = from.ptr[0];
        for (size_t i = 0; i < controls; i++, used += SHOWN_BYTES)
            show(to + used, (unsigned char)from.ptr[i]);
        from = bytes_from(from, controls > 0 ? controls : 1);
    }
    return used;
}

size_t visible_size(struct bytes from)
{
    size_t size = from.len;

    for (; from.len > 0; from = bytes_from(from, 1))
        size += control_length(from) * (SHOWN_BYTES - 1);
    return size;
}

void visible_print(struct bytes from)
{
    while (from.len > 0) {
        size_t controls = control_length(from);
        char shown[2 * SHOWN_BYTES];

        fwrite(shown, 1,
               visible_copy(shown, sizeof shown, bytes_of(from.ptr, controls > 0 ? controls : 1)),
               stdout);
        from = bytes_from(from, controls > 0 ? controls : 1);
    }
}
