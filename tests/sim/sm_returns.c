/* See sm_returns.h. */
#include "sm_returns.h"

#include "scheduler.h"
#include "service/decision.h"
#include "world.h"

/* Others go on for so long: a few requests of each. It is little beside the time that handles are kept. */
#define PAUSE_MAX_NS UINT64_C(5000000)

/* In the world. */
static struct returns {
    struct fs_path to[CLIENTS_MAX]; /* depth 0: it does not come back now */
} * returns;

void sm_returns_begin(void)
{
    returns = world_alloc(sizeof *returns);
}

void sm_returns_begin_life(void)
{
    *returns = (struct returns){ .to = { { .depth = 0 } } };
}

bool sm_returns_are_met(void)
{
    return (world->plan.faults & FAULT_SMB) && world->plan.seed % 4 == 3;
}

void sm_return_drawn(unsigned client, const struct fs_path *path)
{
    returns->to[client] = *path;
}

void sm_return_answered(unsigned client)
{
    returns->to[client].depth = 0;
}

bool sm_return_meets(struct draws *draws, struct fs_path *path)
{
    unsigned first, i = 0;

    if (!sm_returns_are_met() || draw(draws, 2) == 0)
        return false;
    first = draw(draws, CLIENTS_MAX);
    while (i < CLIENTS_MAX && returns->to[(first + i) % CLIENTS_MAX].depth == 0)
        i++;
    if (i == CLIENTS_MAX)
        return false;
    *path = returns->to[(first + i) % CLIENTS_MAX];
    return true;
}

/* ---- between the file and the index ---- */

__typeof__(decision_index_get) __real_decision_index_get, __wrap_decision_index_get;

enum store_result __wrap_decision_index_get(struct decision *d, struct guid space, struct bytes key,
                                            struct bytes *ret_value)
{
    if (sm_returns_are_met() && world_once_in(STREAM_SYSTEM, 2))
        sched_sleep(world_random(STREAM_SYSTEM) % PAUSE_MAX_NS);
    return __real_decision_index_get(d, space, key, ret_value);
}
