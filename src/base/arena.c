/* Arenas: lists of chunks of doubling size, with a bump pointer in the newest chunk. Also growing
 * text, which is stored in them.
 *
 * The arena itself is stored in its first chunk, so a small request costs one malloc() and one
 * free(). An allocation larger than the next chunk gets a chunk of exactly its size. Chunks are
 * linked from newest to oldest; a mark records a chunk and its used bytes, so rewinding frees the
 * newer chunks. */
#include "base/arena.h"

#include <assert.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>

/* Size of the first chunk, which has 16 KiB with its header, a size class of malloc(). Most
 * requests need between 8 and 16 KiB. */
#define FIRST_CHUNK_BYTES (16384 - sizeof(struct chunk))
#define CHUNK_BYTES_MAX   (1u << 20)
#define ALIGNMENT         alignof(max_align_t)
#define TEXT_CAPACITY_MIN 64
/* Text longer than this grows by half; shorter text doubles. */
#define LARGE_TEXT_BYTES  ((size_t)1 << 20)

struct chunk {
    struct chunk *older;
    size_t size; /* of data */
    size_t used;
    size_t charged;      /* bytes charged to the memory budget */
    size_t large;        /* bytes charged to the large request */
    size_t uncharged;    /* bytes that the budget refused */
    enum memory_use use; /* the use for which `charged` is charged */
    alignas(max_align_t) char data[];
};

struct arena {
    struct chunk *newest;
    size_t next_chunk_bytes;
    size_t held_bytes; /* bytes in all chunks */
    size_t limit_bytes;
    size_t charged_bytes, uncharged_bytes; /* in all chunks */
    bool is_charged;                       /* to the memory budget */
    bool may_be_large;
    bool holds_secret;
    enum memory_use use;
    struct memory_holder holder;
    struct chunk *first; /* contains the arena, so it is freed last */
};

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

struct arena *arena_new_charged(size_t limit_bytes, enum memory_use use)
{
    struct arena *arena = arena_new(limit_bytes);

    arena->is_charged = true;
    arena->use = use;
    return arena;
}

struct arena *arena_new_background(size_t limit_bytes)
{
    static const char tasks;
    struct arena *arena = arena_new_charged(limit_bytes, MEMORY_BACKGROUND);

    arena->holder.account = memory_share_of_account(&tasks);
    return arena;
}

struct arena *arena_new_like(const struct arena *model, size_t limit_bytes)
{
    struct arena *arena = arena_new(limit_bytes);

    arena->is_charged = model->is_charged;
    arena->may_be_large = model->may_be_large;
    arena->use = model->use;
    arena->holder = model->holder;
    return arena;
}

bool arena_is_exhausted(const struct arena *arena)
{
    return arena->held_bytes > arena->limit_bytes || arena->uncharged_bytes > 0;
}

/* ---- chunks ---- */

/* Charges `size` bytes of a chunk to the budget, or to the large request if the arena may belong
 * to that. */
static bool chunk_charge(struct arena *arena, struct chunk *chunk, size_t size)
{
    enum memory_use use = chunk->charged > 0 ? chunk->use : arena->use;

    if (memory_budget_charge(arena->holder, use, size)) {
        chunk->use = use;
        chunk->charged += size;
        arena->charged_bytes += size;
    } else if (arena->may_be_large && memory_large_charge(arena, size)) {
        chunk->large += size;
    } else {
        return false;
    }
    return true;
}

/* Counts `size` more bytes in a chunk, and charges them if the arena is charged. */
static void chunk_hold(struct arena *arena, struct chunk *chunk, size_t size)
{
    arena->held_bytes += size;
    if (!arena->is_charged || arena->held_bytes <= ARENA_FREE_BYTES ||
        chunk_charge(arena, chunk, size))
        return;
    chunk->uncharged += size;
    arena->uncharged_bytes += size;
    memory_budget_refused();
}

static void chunk_release(struct arena *arena, struct chunk *chunk)
{
    memory_budget_release(arena->holder, chunk->use, chunk->charged);
    arena->charged_bytes -= chunk->charged;
    if (chunk->large > 0)
        memory_large_release(arena, chunk->large);
    arena->uncharged_bytes -= chunk->uncharged;
    chunk->charged = chunk->large = chunk->uncharged = 0;
}

static void chunk_drop_newest(struct arena *arena)
{
    struct chunk *newest = arena->newest;

    assert(newest != arena->first);
    arena->newest = newest->older;
    arena->held_bytes -= newest->size;
    chunk_release(arena, newest);
    if (arena->holds_secret)
        explicit_bzero(newest->data, newest->size);
    free(newest);
}

void arena_free(struct arena *arena)
{
    if (!arena)
        return;
    while (arena->newest != arena->first)
        chunk_drop_newest(arena);
    if (arena->holds_secret)
        explicit_bzero(arena + 1, arena->first->size - sizeof *arena);
    free(arena->first);
}

void arena_hold_secret(struct arena *arena)
{
    arena->holds_secret = true;
}

bool arena_holds_secret(const struct arena *arena)
{
    return arena->holds_secret;
}

void arena_free_secret(struct arena *arena)
{
    arena_hold_secret(arena);
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
    if (arena->holds_secret)
        explicit_bzero(arena->newest->data + mark.used, arena->newest->used - mark.used);
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

/* ---- charging ---- */

void arena_charge_to(struct arena *arena, struct memory_holder holder)
{
    memory_budget_move(arena->holder, holder, arena->charged_bytes);
    arena->holder = holder;
}

void arena_begin_decision(struct arena *arena)
{
    if (arena->use == MEMORY_REQUEST)
        arena->use = MEMORY_DECISION;
    arena->may_be_large = arena->is_charged;
}

bool arena_charge_again(struct arena *arena)
{
    for (struct chunk *chunk = arena->newest; arena->uncharged_bytes > 0 && chunk;
         chunk = chunk->older) {
        size_t size = chunk->uncharged;

        if (size == 0 || !chunk_charge(arena, chunk, size))
            continue;
        chunk->uncharged = 0;
        arena->uncharged_bytes -= size;
    }
    return !arena_is_exhausted(arena);
}

/* Moves the chunk's charges from the large request to the budget. */
static void chunk_end_large(struct arena *arena, struct chunk *chunk)
{
    size_t size = chunk->large;

    if (size == 0)
        return;
    if (!chunk_charge(arena, chunk, size)) {
        chunk->uncharged += size;
        arena->uncharged_bytes += size;
    }
    chunk->large = 0;
    memory_large_release(arena, size);
}

bool arena_end_decision(struct arena *arena)
{
    if (arena->use == MEMORY_DECISION)
        arena->use = MEMORY_REQUEST;
    arena->may_be_large = false;
    for (struct chunk *chunk = arena->newest; chunk; chunk = chunk->older)
        chunk_end_large(arena, chunk);
    return !arena_is_exhausted(arena);
}

bool arena_end_decision_except(struct arena *arena, struct arena_mark mark, struct bytes keep)
{
    for (struct chunk *chunk = arena->newest; chunk != mark.chunk; chunk = chunk->older)
        if (!chunk_has(chunk, keep))
            chunk_release(arena, chunk);
    return arena_end_decision(arena);
}

/* Adds a chunk with space for `size` bytes. */
static struct chunk *chunk_add(struct arena *arena, size_t size)
{
    size_t chunk_size = size > arena->next_chunk_bytes ? size : arena->next_chunk_bytes;
    size_t held = 0;
    struct chunk *chunk;

    if (__builtin_add_overflow(arena->held_bytes, chunk_size, &held) || held > arena->limit_bytes)
        chunk_size = size; /* near the limit, allocate only the requested size */
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

/* Returns true if nothing was allocated after the text; it then ends at the end of its chunk's
 * used bytes. */
static bool text_is_newest(const struct text *text)
{
    const struct chunk *chunk = text->arena->newest;

    return text->ptr >= chunk->data && text->ptr + text->capacity == chunk->data + chunk->used;
}

/* Enlarges the text's chunk. It must contain only the text, since realloc() may move it, and must
 * not be the first chunk, which contains the arena. */
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
    capacity = text->capacity < LARGE_TEXT_BYTES ? text->capacity * 2
                                                 : text->capacity + text->capacity / 2;
    if (capacity < needed)
        capacity = needed;
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
