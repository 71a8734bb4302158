/* Memory that lives exactly as long as one exchange (or one background step).
 *
 * Allocation is a pointer bump; nothing is freed individually. Code in an exchange need not care
 * about ownership. Since discarded memory is only freed at the end, bulk data does not belong here.
 *
 * Allocations never fail. Each arena has a limit, which input may reach. An allocation beyond it
 * succeeds, but the arena is then *exhausted*. Functions that read from the store into it return
 * STORE_SHORTAGE, so that the attempt ends soon. The caller of a step checks arena_is_exhausted()
 * before it uses the results, and refuses the request (503, STATUS_INSUFF_SERVER_RESOURCES) or
 * postpones the task. A charged arena (for a client's request or a background task) also charges
 * its chunks to the memory budget of the process (memory_budget.h), and is exhausted while the
 * budget does not cover them.
 *
 * An arena belongs to one thread at a time. If malloc() fails, the process is terminated. decision:
 * 960 */
#ifndef LAGRA_BASE_ARENA_H
#define LAGRA_BASE_ARENA_H

#include <stdarg.h>

#include "base/bytes.h"
#include "base/memory_budget.h"

struct arena;

/* Size up to which a charged arena costs no budget; most requests stay below it. */
#define ARENA_FREE_BYTES ((size_t)64 << 10)

/* Creates an arena with a first chunk of a few KiB. It is exhausted once it holds more than
 * limit_bytes. */
struct arena *arena_new(size_t limit_bytes);
/* Like arena_new(), for memory that the server holds for a client. Bytes beyond ARENA_FREE_BYTES
 * are charged to the memory budget, but to no share until arena_charge_to() is called. */
struct arena *arena_new_charged(size_t limit_bytes, enum memory_use use);
/* Like arena_new_charged(), for a background task. All background tasks have one share. */
struct arena *arena_new_background(size_t limit_bytes);
/* Creates an arena that is charged like `model`. */
struct arena *arena_new_like(const struct arena *model, size_t limit_bytes);
/* Returns true while the arena holds more than its limit, or more than the memory budget
 * covers. */
bool arena_is_exhausted(const struct arena *arena);
void arena_free(struct arena *arena);
/* Wipes the memory before freeing it, for arenas that have held keys. */
void arena_free_secret(struct arena *arena);
/* Wipes all memory that the arena frees from now on, for arenas that may hold keys. */
void arena_hold_secret(struct arena *arena);
bool arena_holds_secret(const struct arena *arena);

/* A position in the arena: arena_rewind() frees everything allocated after arena_mark(). */
struct arena_mark {
    void *chunk;
    size_t used;
};
struct arena_mark arena_mark(const struct arena *arena);
void arena_rewind(struct arena *arena, struct arena_mark mark);
/* Like arena_rewind(), but preserves `keep`, which must be a single allocation. */
void arena_rewind_except(struct arena *arena, struct arena_mark mark, struct bytes keep);
/* Returns the number of bytes in all chunks. */
size_t arena_held(const struct arena *arena);

/* Charges everything that the arena holds now or later to the shares of `holder`. */
void arena_charge_to(struct arena *arena, struct memory_holder holder);
/* Starts an attempt to decide. Until arena_end_decision(), allocations may be charged to the large
 * request; in a MEMORY_REQUEST arena they count as MEMORY_DECISION. */
void arena_begin_decision(struct arena *arena);
/* Ends the attempts: moves charges from the large request back to the budget. Returns false if the
 * arena is exhausted. */
bool arena_end_decision(struct arena *arena);
/* Like arena_end_decision(), for a caller that then calls arena_rewind_except() with the same
 * arguments: does not charge memory that this call will free. */
bool arena_end_decision_except(struct arena *arena, struct arena_mark mark, struct bytes keep);
/* Retries the charges that the budget refused before. Returns false if the arena is still
 * exhausted. */
bool arena_charge_again(struct arena *arena);

/* Allocates zeroed memory, aligned for any type. Returns a valid pointer even for size 0. */
void *arena_alloc(struct arena *arena, size_t size);
/* Like arena_alloc(), but zeroes only the first `zeroed` bytes. */
void *arena_alloc_head(struct arena *arena, size_t size, size_t zeroed);
/* Allocates uninitialized bytes without alignment. */
char *arena_bytes(struct arena *arena, size_t size);
/* Allocates a zeroed array; count * size is checked for overflow. */
void *arena_array(struct arena *arena, size_t count, size_t size);
struct bytes arena_copy(struct arena *arena, struct bytes from);
/* Copies, converting ASCII letters to lower case. */
struct bytes arena_copy_lower(struct arena *arena, struct bytes from);
/* Returns a NUL-terminated copy. */
char *arena_string(struct arena *arena, struct bytes from);
struct bytes arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
struct bytes arena_vprintf(struct arena *arena, const char *format, va_list args)
    __attribute__((format(printf, 2, 0), nonnull(2)));

/* Text that grows in an arena (XML bodies, strings to sign), in place while it is the newest
 * allocation. */
struct text {
    struct arena *arena;
    char *ptr;
    size_t len;
    size_t capacity;
};
void text_init(struct text *text, struct arena *arena, size_t capacity_hint);
/* Adds capacity for `more` bytes. Callers use text_reserve() instead. */
void text_grow(struct text *text, size_t more);
/* The append functions are inline because a listing makes a hundred thousand appends, mostly of
 * literals. */
static inline void text_reserve(struct text *text, size_t more)
{
    if (text->capacity - text->len < more)
        text_grow(text, more);
}
static inline void text_add(struct text *text, struct bytes more)
{
    if (more.len == 0)
        return;
    text_reserve(text, more.len);
    memcpy(text->ptr + text->len, more.ptr, more.len);
    text->len += more.len;
}
static inline void text_add_string(struct text *text, const char *more)
{
    text_add(text, bytes_from_string(more));
}
static inline void text_add_char(struct text *text, char c)
{
    text_reserve(text, 1);
    text->ptr[text->len++] = c;
}
/* Appends a code point in UTF-8; not a surrogate, at most U+10FFFF. rfc: 3629 3 */
void text_add_code_point(struct text *text, uint32_t c);
void text_add_u64(struct text *text, uint64_t value);
void text_add_i64(struct text *text, int64_t value);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline struct bytes text_bytes(const struct text *text)
{
    return (struct bytes){ text->ptr, text->len };
}

/* malloc() and its relatives for memory that outlives an exchange; failure terminates the
 * process. */
void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *old, size_t size);
char *xstrdup(const char *string);
/* Reports the failure of another library's allocation and terminates the process. */
__attribute__((noreturn)) void out_of_memory(size_t size);

#endif
