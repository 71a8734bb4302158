/* Escapes external text for logs and terminals, so that no name can forge a log line or send
 * terminal escape sequences. Control characters become \xNN, both those of one byte and those of
 * two bytes in UTF-8 (U+0080 to U+009F). */
#ifndef LAGRA_BASE_VISIBLE_H
#define LAGRA_BASE_VISIBLE_H

#include "base/arena.h"

/* Copies as much as fits, without a NUL. Returns the number of bytes written. */
size_t visible_copy(char *to, size_t size, struct bytes from);
/* Returns the number of bytes needed for the entire text. */
size_t visible_size(struct bytes from);
/* Prints the escaped text to standard output. */
void visible_print(struct bytes from);

/* Returns the escaped text; `from` itself if nothing needs escaping. */
static inline struct bytes visible_text(struct arena *arena, struct bytes from)
{
    size_t size = visible_size(from);
    char *to = size > from.len ? arena_bytes(arena, size) : NULL;

    return to ? bytes_of(to, visible_copy(to, size, from)) : from;
}

#endif
