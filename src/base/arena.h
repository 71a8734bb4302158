/* Memory that lives exactly as long as one exchange (or one background step).
 *
 * Allocation is a pointer bump; nothing is freed individually. So there are no ownership questions
 * inside an exchange, and memory that is discarded early is only freed at the end: bulk bytes never go
 * here.
 *
 * Allocations never fail. Each arena has a limit, which data from outside may reach. An allocation beyond
 * it succeeds, but the arena is then *exhausted*: functions that read from the store into it return
 * STORE_SHORTAGE, so that an attempt ends soon, and the caller of a step checks arena_is_exhausted()
 * before it uses the results, and refuses the request (503, STATUS_INSUFF_SERVER_RESOURCES) or postpones
 * the task. The arena of a client's request also charges its chunks to the memory budget of the process
 * (memory_budget.h), and is exhausted while the budget does not cover them.
 *
 * An arena belongs to one thread at a time. If malloc() fails, the process ends. decision: 960 */
#ifndef LAGRA_BASE_ARENA_H
#define LAGRA_BASE_ARENA_H

#include <stdarg.h>

#include "base/bytes.h"

struct arena;

/* What a charged arena may hold without asking the budget: most requests need less. */
#define ARENA_FREE_BYTES ((size_t)64 << 10)

/* Small: the first chunk is a few KiB. limit_bytes: it is exhausted when it holds more. */
struct arena *arena_new(size_t limit_bytes);
/* As arena_new(), for what a client makes the server hold: what exceeds ARENA_FREE_BYTES is charged to the memory
 * budget. */
struct arena *arena_new_charged(size_t limit_bytes);
/* Returns true while it holds more than its limit, or than the memory budget covers. */
bool arena_is_exhausted(const struct arena *arena);
void arena_free(struct arena *arena);
/* Of one that has held keys: wipes all of it first. */
void arena_free_secret(struct arena *arena);

/* A position in the arena: arena_rewind() frees all that was allocated after arena_mark(). */
struct arena_mark {
    void *chunk;
    size_t used;
};
struct arena_mark arena_mark(const struct arena *arena);
void arena_rewind(struct arena *arena, struct arena_mark mark);
/* As arena_rewind(), except that `keep`, one allocation, stays where it is. */
void arena_rewind_except(struct arena *arena, struct arena_mark mark, struct bytes keep);
/* Bytes in all chunks. */
size_t arena_held(const struct arena *arena);

/* Zeroed, aligned for any type. size 0 returns a valid pointer. */
void *arena_alloc(struct arena *arena, size_t size);
/* The same, of which only the first `zeroed` bytes are. */
void *arena_alloc_head(struct arena *arena, size_t size, size_t zeroed);
/* Not zeroed, byte aligned. */
char *arena_bytes(struct arena *arena, size_t size);
/* count * size is checked. */
void *arena_array(struct arena *arena, size_t count, size_t size);
struct bytes arena_copy(struct arena *arena, struct bytes from);
/* A copy with ASCII letters in lower case. */
struct bytes arena_copy_lower(struct arena *arena, struct bytes from);
/* NUL-terminated copy. */
char *arena_string(struct arena *arena, struct bytes from);
struct bytes arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
struct bytes arena_vprintf(struct arena *arena, const char *format, va_list args)
    __attribute__((format(printf, 2, 0), nonnull(2)));

/* Text that grows in an arena (XML answers, strings to sign). In place while it is the newest. */
struct text {
    struct arena *arena;
    char *ptr;
    size_t len;
    size_t capacity;
};
void text_init(struct text *text, struct arena *arena, size_t capacity_hint);
/* Makes room for `more` bytes: use text_reserve(). */
void text_grow(struct text *text, size_t more);
/* What adds is inline: a listing adds a hundred thousand times, mostly literals. */
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
/* In UTF-8; not a surrogate, at most U+10FFFF. rfc: 3629 3 */
void text_add_code_point(struct text *text, uint32_t c);
void text_add_u64(struct text *text, uint64_t value);
void text_add_i64(struct text *text, int64_t value);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline struct bytes text_bytes(const struct text *text)
{
    return (struct bytes){ text->ptr, text->len };
}

/* malloc family for what outlives an exchange; no memory ends the process. */
void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *old, size_t size);
char *xstrdup(const char *string);
/* For what others allocate. */
__attribute__((noreturn)) void out_of_memory(size_t size);

#endif
