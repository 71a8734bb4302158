/* See fleet_shared.h. */
#include "fleet_shared.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "world.h"

/* Of fleet_shared.ld. */
extern char sim_shared_begin[], sim_shared_end[];

void shared_begin(void)
{
    size_t size = (size_t)(sim_shared_end - sim_shared_begin);
    char *copy = malloc(size);
    long place;

    memcpy(copy, sim_shared_begin, size);
    place = syscall(SYS_mmap, sim_shared_begin, size, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    assert(place == (long)(uintptr_t)sim_shared_begin);
    memcpy(sim_shared_begin, copy, size);
    free(copy);
}

bool shared_has(const void *object)
{
    const char *at = object;

    return world_has(object) || (at >= sim_shared_begin && at < sim_shared_end);
}
