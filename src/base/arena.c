/* Arenas: chunks that double, a bump pointer in the newest, and the text that grows in them.
 *
 * The arena itself lies in its first chunk, so that a small request costs one malloc() and one
 * free(). An allocation that is larger than the next chunk would be gets one of its own size. Chunks
 * form a list from the newest back to the first; a mark names a chunk and how much of it was used,
 * so rewinding frees what is newer. */
#include "base/arena.h"

#include <assert.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory_budget.h"

/* With its head 16 KiB, which malloc() has a size for: most requests need between 8 and 16. */
#define FIRST_CHUNK_BYTES (16384 - sizeof(struct chunk))
#define CHUNK_BYTES_MAX   (1u << 20)
#define ALIGNMENT         alignof(max_align_t)
#define TEXT_CAPACITY_MIN 64

struct chunk {
    struct chunk *older;
    size_t size; /* of data */
    size_t used;
    size_t charged;   /* bytes of it that the memory budget covers */
    size_t uncharged; /* bytes that the budget refused */
    alignas(max_align_t) char data[];
};

struct arena {
    struct chunk *newest;
    size_t next_chunk_bytes;
    size_t held_bytes; /* in all chunks */
    size_t limit_bytes;
    size_t uncharged_bytes; /* in chunks that the budget did not cover */
    bool is_charged;        /* to the memory budget */
    struct chunk *first;    /* the arena lies in it: freed last */
};

void out_of_memory(size_t size)
{
    log_line(LOG_ERROR, "no memory for %zu bytes; ending", size);
    _exit(EXIT_FAILURE);
}

void *xmalloc(size_t size)
{
    void *p = malloc(size > 0 ? size : 1);

    if (!p)
        out_of_memory(size);
    return p;
}

void *xcalloc(size_t count, size_t size)
{
    void *p = calloc(count > 0 ? count : 1, size > 0 ? size : 1);

    if (!p)
        out_of_memory(size);
    return p;
}

void *xrealloc(void *old, size_t size)
{
    void *p = realloc(old, size > 0 ? size : 1);

    if (!p)
        out_of_memory(size);
    return p;
}

char *xstrdup(const char *string)
{
    size_t size = strlen(string) + 1;

    return memcpy(xmalloc(size), string, size);
}

struct arena *arena_new(size_t limit_bytes)
{
    struct chunk *first = xmalloc(sizeof *first + FIRST_CHUNK_BYTES);
    struct arena *arena = (struct arena *)(void *)first->data;

    *first = (struct chunk){ .size = FIRST_CHUNK_BYTES, .used = sizeof *arena };
    *arena = (struct arena){
        .newest = first,
        .next_chunk_bytes = 2 * (size_t)FIRST_CHUNK_BYTES,
        .held_bytes = FIRST_CHUNK_BYTES,
        .limit_bytes = limit_bytes > FIRST_CHUNK_BYTES ? limit_bytes : FIRST_CHUNK_BYTES,
        .first = first,
    };
    return arena;
}

struct arena *arena_new_charged(size_t limit_bytes)
{
    struct arena *arena = arena_new(limit_bytes);

    arena->is_charged = true;
    return arena;
}

bool arena_is_exhausted(const struct arena *arena)
{
    return arena->held_bytes > arena->limit_bytes || arena->uncharged_bytes > 0;
}

/* ---- chunks ---- */

/* Counts `size` more bytes in a chunk, and charges them to the budget if the arena is charged. */
static void chunk_hold(struct arena *arena, struct chunk *chunk, size_t size)
{
    arena->held_bytes += size;
    if (!arena->is_charged || arena->held_bytes <= ARENA_FREE_BYTES)
        return;
    if (memory_budget_charge(size)) {
        chunk->charged += size;
    } else {
        chunk->uncharged += size;
        arena->uncharged_bytes += size;
    }
}

static void chunk_drop_newest(struct arena *arena)
{
    struct chunk *newest = arena->newest;

    assert(newest != arena->first);
    arena->newest = newest->older;
    arena->held_bytes -= newest->size;
    arena->uncharged_bytes -= newest->uncharged;
    if (newest->charged > 0)
        memory_budget_release(newest->charged);
    free(newest);
}

void arena_free(struct arena *arena)
{
    if (!arena)
        return;
    while (arena->newest != arena->first)
        chunk_drop_newest(arena);
    free(arena->first);
}

void arena_free_secret(struct arena *arena)
{
    for (struct chunk *chunk = arena->newest; chunk != arena->first; chunk = chunk->older)
        explicit_bzero(chunk->data, chunk->size);
    explicit_bzero(arena + 1, arena->first->size - sizeof *arena);
    arena_free(arena);
}

struct arena_mark arena_mark(const struct arena *arena)
{
    return (struct arena_mark){ arena->newest, arena->newest->used };
}

void arena_rewind(struct arena *arena, struct arena_mark mark)
{
    while (arena->newest != mark.chunk)
        chunk_drop_newest(arena);
    assert(mark.used <= arena->newest->used);
    arena->newest->used = mark.used;
    if (arena->newest == arena->first)
        arena->next_chunk_bytes = 2 * (size_t)FIRST_CHUNK_BYTES;
}

static bool chunk_has(const struct chunk *chunk, struct bytes part)
{
    return part.ptr >= chunk->data && part.ptr < chunk->data + chunk->size;
}

void arena_rewind_except(struct arena *arena, struct arena_mark mark, struct bytes keep)
{
    struct chunk *kept = NULL;

    while (arena->newest != mark.chunk) {
        struct chunk *chunk = arena->newest;

        if (!chunk_has(chunk, keep)) {
            chunk_drop_newest(arena);
            continue;
        }
        assert(!kept);
        kept = chunk;
        arena->newest = chunk->older;
    }
    if (kept) {
        kept->older = arena->newest;
        arena->newest = kept;
    } else if (!chunk_has(arena->newest, keep)) {
        arena_rewind(arena, mark);
    }
}

size_t arena_held(const struct arena *arena)
{
    return arena->held_bytes;
}

/* A new newest chunk with room for `size` bytes. */
static struct chunk *chunk_add(struct arena *arena, size_t size)
{
    size_t chunk_size = size > arena->next_chunk_bytes ? size : arena->next_chunk_bytes;
    size_t held = 0;
    struct chunk *chunk;

    if (__builtin_add_overflow(arena->held_bytes, chunk_size, &held) || held > arena->limit_bytes)
        chunk_size = size; /* near the limit: no more than asked for */
    chunk = xmalloc(sizeof *chunk + chunk_size);
    *chunk = (struct chunk){ .older = arena->newest, .size = chunk_size };
    arena->newest = chunk;
    chunk_hold(arena, chunk, chunk_size);
    if (arena->next_chunk_bytes < CHUNK_BYTES_MAX)
        arena->next_chunk_bytes *= 2;
    return chunk;
}

static inline char *take(struct arena *arena, size_t size, size_t alignment)
{
    struct chunk *chunk = arena->newest;
    size_t start = (chunk->used + alignment - 1) & ~(alignment - 1);

    if (__builtin_expect(start > chunk->size || chunk->size - start < size, 0)) {
        chunk = chunk_add(arena, size);
        start = 0;
    }
    chunk->used = start + size;
    return chunk->data + start;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    return memset(take(arena, size, ALIGNMENT), 0, size);
}

void *arena_alloc_head(struct arena *arena, size_t size, size_t zeroed)
{
    assert(zeroed <= size);
    return memset(take(arena, size, ALIGNMENT), 0, zeroed);
}

char *arena_bytes(struct arena *arena, size_t size)
{
    return take(arena, size, 1);
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
    size_t total = 0;
    bool overflow = __builtin_mul_overflow(count, size, &total);

    assert(!overflow);
    return arena_alloc(arena, total);
}

struct bytes arena_copy(struct arena *arena, struct bytes from)
{
    char *to;

    if (!from.ptr)
        return from;
    to = take(arena, from.len, 1);
    memcpy(to, from.ptr, from.len);
    return bytes_of(to, from.len);
}

struct bytes arena_copy_lower(struct arena *arena, struct bytes from)
{
    char *to = take(arena, from.len, 1);

    for (size_t i = 0; i < from.len; i++) {
        char c = from.ptr[i];

        to[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return bytes_of(to, from.len);
}

char *arena_string(struct arena *arena, struct bytes from)
{
    char *to = take(arena, from.len + 1, 1);

    if (from.len > 0)
        memcpy(to, from.ptr, from.len);
    to[from.len] = '\0';
    return to;
}

struct bytes arena_vprintf(struct arena *arena, const char *format, va_list args)
{
    struct text text;
    va_list again;
    int length;

    va_copy(again, args);
    length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    assert(length >= 0);
    text_init(&text, arena, (size_t)length + 1);
    (void)vsnprintf(text.ptr, (size_t)length + 1, format, args);
    return bytes_of(text.ptr, (size_t)length);
}

struct bytes arena_printf(struct arena *arena, const char *format, ...)
{
    struct bytes printed;
    va_list args;

    va_start(args, format);
    printed = arena_vprintf(arena, format, args);
    va_end(args);
    return printed;
}

/* ---- text ---- */

void text_init(struct text *text, struct arena *arena, size_t capacity_hint)
{
    size_t capacity = capacity_hint < TEXT_CAPACITY_MIN ? TEXT_CAPACITY_MIN : capacity_hint;

    *text = (struct text){
        .arena = arena,
        .ptr = take(arena, capacity, 1),
        .capacity = capacity,
    };
}

/* True when the text ends where its chunk's used bytes end: nothing was allocated after it. */
static bool text_is_newest(const struct text *text)
{
    const struct chunk *chunk = text->arena->newest;

    return text->ptr >= chunk->data && text->ptr + text->capacity == chunk->data + chunk->used;
}

/* Makes the text's chunk larger. Only when the text is all that lies in it, since the chunk may
 * move, and never the first chunk, which holds the arena. */
static bool text_grow_chunk(struct text *text, size_t capacity)
{
    struct arena *arena = text->arena;
    struct chunk *chunk = arena->newest;

    if (chunk == arena->first || text->ptr != chunk->data)
        return false;
    assert(capacity >= chunk->size);
    chunk = xrealloc(chunk, sizeof *chunk + capacity);
    chunk_hold(arena, chunk, capacity - chunk->size);
    chunk->size = capacity;
    chunk->used = capacity;
    arena->newest = chunk;
    text->ptr = chunk->data;
    text->capacity = capacity;
    return true;
}

void text_grow(struct text *text, size_t more)
{
    size_t needed = 0;
    bool overflow = __builtin_add_overflow(text->len, more, &needed);
    size_t capacity;
    char *moved;

    assert(!overflow && needed <= SIZE_MAX / 2);
    capacity = text->capacity * 2 > needed ? text->capacity * 2 : needed;
    if (text_is_newest(text)) {
        struct chunk *chunk = text->arena->newest;
        size_t room = text->capacity + (chunk->size - chunk->used);

        if (room >= needed) {
            if (capacity > room)
                capacity = room;
            chunk->used += capacity - text->capacity;
            text->capacity = capacity;
            return;
        }
        if (text_grow_chunk(text, capacity))
            return;
    }
    moved = take(text->arena, capacity, 1);
    memcpy(moved, text->ptr, text->len);
    text->ptr = moved;
    text->capacity = capacity;
}

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
