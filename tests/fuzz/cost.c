/* Counters that the compiler's calls and the linker's wrappers (--wrap=malloc) raise. */
#include "cost.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>

/* Threads share a counter where there are more: that loses a few steps. */
#define COUNTERS 64u

void __wrap___sanitizer_cov_trace_pc(void);
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void __wrap_free(void *block);

static struct {
    _Alignas(64) volatile uint64_t steps; /* of one thread at a time */
} counters[COUNTERS];
static atomic_uint threads;
static _Thread_local volatile uint64_t *own;
static _Atomic int64_t bytes, most_bytes;
static uint64_t steps_before;
static int64_t bytes_before;

void __wrap___sanitizer_cov_trace_pc(void)
{
    if (!own)
        own = &counters[atomic_fetch_add(&threads, 1) % COUNTERS].steps;
    (*own)++;
}

static uint64_t all_steps(void)
{
    uint64_t steps = 0;

    for (size_t i = 0; i < COUNTERS; i++)
        steps += counters[i].steps;
    return steps;
}

static void add(int64_t size)
{
    int64_t now = atomic_fetch_add(&bytes, size) + size, most = atomic_load(&most_bytes);

    while (now > most && !atomic_compare_exchange_weak(&most_bytes, &most, now))
        ;
}

static void *added(void *block)
{
    if (block)
        add((int64_t)malloc_usable_size(block));
    return block;
}

static void removed(void *block)
{
    if (block)
        add(-(int64_t)malloc_usable_size(block));
}

void *__wrap_malloc(size_t size)
{
    return added(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return added(__real_calloc(count, size));
}

void *__wrap_realloc(void *block, size_t size)
{
    removed(block);
    return added(__real_realloc(block, size));
}

void __wrap_free(void *block)
{
    removed(block);
    __real_free(block);
}

void cost_begin(void)
{
    steps_before = all_steps();
    bytes_before = atomic_load(&bytes);
    atomic_store(&most_bytes, bytes_before);
}

struct cost cost_end(void)
{
    return (struct cost){ .steps = all_steps() - steps_before,
                          .bytes = atomic_load(&most_bytes) - bytes_before };
}

int64_t cost_bytes(void)
{
    return atomic_load(&bytes);
}
