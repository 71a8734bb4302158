/* Escapes external text for logs and terminals: control characters become \xNN, both those of one
 * byte and those that take two in UTF-8 (U+0080 to U+009F). So no name can forge a log line or send
 * terminal escape sequences. */
#ifndef LAGRA_BASE_VISIBLE_H
#define LAGRA_BASE_VISIBLE_H

#include "base/arena.h"

/* Copies as much as fits; `to` is not terminated. Returns the bytes written. */
size_t visible_copy(char *to, size_t size, struct bytes from);
/* Returns the number of bytes needed for the entire text. */
size_t visible_size(struct bytes from);
/* Prints to standard output. */
void visible_print(struct bytes from);

/* Returns `from` itself if nothing needs escaping. */
static inline struct bytes visible_text(struct arena *arena, struct bytes from)
{
    size_t size = visible_size(from);
    char *to = size > from.len ? arena_bytes(arena, size) : NULL;

    return to ? bytes_of(to, visible_copy(to, size, from)) : from;
}

#endif
