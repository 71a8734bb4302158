/* The shared mapping, its memory, random numbers, and the ends of a life. */
#include "world.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WORLD_BYTES ((size_t)6 << 30)
#define WORLD_PLACE ((uintptr_t)0x200000000000)
#define LARGEST     (39u)

struct world *const world = (struct world *)WORLD_PLACE;

void world_map(void)
{
    void *place = mmap((void *)WORLD_PLACE, WORLD_BYTES, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

    assert(place == (void *)WORLD_PLACE);
}

bool world_has(const void *object)
{
    return (uintptr_t)object - WORLD_PLACE < WORLD_BYTES;
}

void world_begin(const struct plan *plan)
{
    size_t used = world->free_from ? (size_t)(world->free_from - (char *)world) : sizeof *world;

    /* Small runs are emptied faster by hand than by unmapping. */
    if (used > ((size_t)8 << 20))
        madvise(world, WORLD_BYTES, MADV_REMOVE);
    else
        memset(world, 0, used);
    world->plan = *plan;
    world->free_from = (char *)(world + 1);
    world->now_ns = 1000000000;
    world->wall_ns = 1790000000ll * 1000000000;
    for (unsigned i = 0; i < STREAMS; i++)
        world->random[i] = world_mix(plan->seed * STREAMS + i + 1);
}

/* ---- memory: lists of free places, a list for each power of two ---- */

static unsigned class_of(size_t size)
{
    unsigned class = 4;

    while (((size_t)1 << class) < size)
        class ++;
    assert(class <= LARGEST);
    return class;
}

void *world_alloc(size_t size)
{
    unsigned class = class_of(size);
    void *place = world->free_lists[class];

    if (place) {
        memcpy(&world->free_lists[class], place, sizeof(void *));
        memset(place, 0, size);
        return place;
    }
    if (class >= 12) /* pages are aligned */
        world->free_from = (char *)(((uintptr_t)world->free_from + 4095) & ~(uintptr_t)4095);
    else
        world->free_from = (char *)(((uintptr_t)world->free_from + 15) & ~(uintptr_t)15);
    place = world->free_from;
    world->free_from += (size_t)1 << class;
    assert((size_t)(world->free_from - (char *)world) < WORLD_BYTES);
    return place;
}

void world_free(void *memory, size_t size)
{
    unsigned class = class_of(size);

    if (!memory)
        return;
    memcpy(memory, &world->free_lists[class], sizeof(void *));
    world->free_lists[class] = memory;
}

char *world_string(const char *text)
{
    size_t size = strlen(text) + 1;

    return memcpy(world_alloc(size), text, size);
}

/* ---- random ---- */

uint64_t world_mix(uint64_t value)
{
    value += 0x9E3779B97F4A7C15u;
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9u;
    value = (value ^ value >> 27) * 0x94D049BB133111EBu;
    return value ^ value >> 31;
}

uint64_t world_random(enum stream stream)
{
    world->random[stream] += 0x9E3779B97F4A7C15u;
    return world_mix(world->random[stream]);
}

unsigned world_draw(enum stream stream, unsigned below)
{
    return below == 0 ? 0 : (unsigned)(world_random(stream) >> 16) % below;
}

bool world_once_in(enum stream stream, unsigned times)
{
    return world_draw(stream, times) == 0;
}

void world_trace(uint64_t value)
{
    world->trace = (world->trace ^ value) * 0x100000001B3u;
}

/* ---- ends ---- */

void world_end(enum outcome outcome)
{
    world->outcome = outcome;
    syscall(SYS_exit_group, (int)outcome);
    __builtin_unreachable();
}

void world_fail(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(world->failure, sizeof world->failure, format, args);
    va_end(args);
    world_end(OUTCOME_FAILED);
}

void world_say(const char *format, ...)
{
    char line[1024];
    va_list args;
    int size;

    if (!world->plan.verbose)
        return;
    va_start(args, format);
    size = vsnprintf(line, sizeof line - 1, format, args);
    va_end(args);
    if (size > (int)sizeof line - 2)
        size = (int)sizeof line - 2;
    line[size++] = '\n';
    (void)!syscall(SYS_write, STDERR_FILENO, line, (size_t)size);
}
