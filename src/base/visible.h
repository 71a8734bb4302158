/* Text from outside in a log or on a terminal: control characters are shown as \xNN, those of a byte and those that
 * UTF-8 has two bytes for (U+0080 to U+009F). So no name forges a line, or has a terminal obey it. */
#ifndef LAGRA_BASE_VISIBLE_H
#define LAGRA_BASE_VISIBLE_H

#include "base/arena.h"

/* Copies what there is room for; `to` is not terminated. returns the bytes written */
size_t visible_copy(char *to, size_t size, struct bytes from);
/* How many bytes all of it takes. */
size_t visible_size(struct bytes from);
/* To standard output. */
void visible_print(struct bytes from);

/* `from` itself where there is nothing to be shown so. */
static inline struct bytes visible_text(struct arena *arena, struct bytes from)
{
    size_t size = visible_size(from);
    char *to = size > from.len ? arena_bytes(arena, size) : NULL;

    return to ? bytes_of(to, visible_copy(to, size, from)) : from;
}

#endif
