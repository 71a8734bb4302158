/* See sim_limits.h. Drawn from the seed alone, not from a stream: the server and the models agree, in each life. */
#include "sim_limits.h"

#include "sm_script.h"
#include "world.h"

#define ONCE_IN 4u

/* From `least` on, up to `more` above. */
static const struct {
    unsigned least, more;
} small[LIMITS] = {
    [LIMIT_OPENS] = { 2, 2 },  [LIMIT_LOCKS] = { 1, 2 },    [LIMIT_SNAPSHOTS] = { 1, 2 },
    [LIMIT_STAGED] = { 1, 2 }, [LIMIT_APPENDED] = { 1, 4 },
};

unsigned limit_small_body(void)
{
    return world->plan.fronts > 0 && world->plan.seed % 2 > 0 ? 100 : 64u << 10;
}

unsigned limit_of(enum limit limit, unsigned large)
{
    uint64_t random = world_mix(world->plan.seed * 17 + 5);

    if (random % ONCE_IN != 0)
        return large;
    /* When a handle that persists ends is known to some seconds only, and with it how many there are. */
    if (limit == LIMIT_OPENS && sm_script_may_persist())
        return large;
    return small[limit].least + (unsigned)(world_mix(random + limit) % (small[limit].more + 1));
}
