/* Bounds of the server's lead: see queue_clock.h. */
#include "queue_clock.h"

#include <stdbool.h>
#include <stddef.h>

#include "commits.h"
#include "fleet.h"
#include "world.h"

#define TICK_NS     100
#define SECOND_NS   INT64_C(1000000000)
#define SLOP_NS     (SECOND_NS / 5)
/* What a start may gain: it goes on above what the commits before it may have used; and a wall
 * clock that is ahead by less than two minutes counts as right. */
#define START_NS    (2 * SECOND_NS)
#define BELIEVED_NS (120 * SECOND_NS)
#define UNIX_EPOCH  UINT64_C(621355968000000000)

/* What the server's time may be ahead of true time (below 0: behind it), as of a moment. */
struct queue_clock {
    int64_t least_ns, most_ns;
    uint64_t at_ns;
    int64_t starts;  /* since the last decision */
    bool is_unknown; /* what it may have gained by them */
    uint64_t doubts;
};

/* Each cell has a clock of its own. */
static struct queue_clock *clock_of(unsigned cell)
{
    return &world->queue_clock[cell];
}

static struct queue_clock *queue_clock(void)
{
    return clock_of(commits_cell());
}

void queue_clock_begin(void)
{
    world->queue_clock = world_alloc((CLUSTER_CELLS + 1) * sizeof *world->queue_clock);
    for (unsigned cell = 1; cell <= CLUSTER_CELLS; cell++)
        clock_of(cell)->starts = 1;
}

void queue_clock_start(uint64_t known)
{
    queue_clock()->starts++;
    queue_clock()->is_unknown |= known != world->wall_steps;
}

/* The clock of a machine may be fast or slow, and the server adds up to a sixteenth while it catches up with the wall clock. */
static int64_t drift(uint64_t from_ns, uint64_t to_ns)
{
    uint64_t passed_ns = to_ns > from_ns ? to_ns - from_ns : 0;
    uint64_t of_machine_ns = world->plan.fronts > 0 ? passed_ns / 1000000 * FLEET_RATE_MAX_PPM : 0;

    return (int64_t)(passed_ns / 16 + of_machine_ns);
}

/* Of the first decision after one. */
static const char *check_start(struct queue_clock *clock, int64_t ahead_ns, int64_t behind_ns,
                               int64_t most, int64_t least)
{
    bool was_set = world->wall_steps > 0;
    int64_t start_ns = clock->starts * START_NS;
    int64_t believed_ns = clock->starts * BELIEVED_NS;

    if (behind_ns < least - start_ns && !was_set)
        return "the server has lost time by its start";
    if (ahead_ns <= most + start_ns)
        return NULL;
    clock->doubts++;
    if (clock->is_unknown || (was_set && ahead_ns <= most + start_ns + believed_ns))
        return NULL;
    return "the server has gained time by its start";
}

const char *queue_clock_check(unsigned cell, uint64_t instant, uint64_t from_ns, uint64_t to_ns)
{
    struct queue_clock *clock = clock_of(cell);
    int64_t server_ns =
        (int64_t)(instant - UNIX_EPOCH) * TICK_NS - (world->wall_ns - world->wall_set_ns);
    /* At least and at most, for it was decided between the two. */
    int64_t ahead_ns = server_ns - (int64_t)to_ns, behind_ns = server_ns - (int64_t)from_ns;
    int64_t within_ns = drift(from_ns, to_ns), drift_ns = within_ns + drift(clock->at_ns, to_ns);
    int64_t most = clock->most_ns + drift_ns, least = clock->least_ns - drift_ns;
    const char *why = NULL;

    if (clock->starts > 0) {
        why = check_start(clock, ahead_ns, behind_ns, most, least);
        most = INT64_MAX;
        least = INT64_MIN;
    } else if (ahead_ns > most + SLOP_NS) {
        why = "the server's time is ahead of what has passed";
    } else if (behind_ns < least - SLOP_NS) {
        why = "the server's time is behind what has passed";
    }
    clock->starts = 0;
    clock->is_unknown = false;
    clock->most_ns = behind_ns + within_ns < most ? behind_ns + within_ns : most;
    clock->least_ns = ahead_ns - within_ns > least ? ahead_ns - within_ns : least;
    clock->at_ns = to_ns;
    return why;
}

void queue_clock_moved(void)
{
    if (world->queue_clock && world->wall_steps > 0)
        queue_clock()->doubts++;
}

void queue_clock_follow(int64_t ticks)
{
    if (world->queue_clock && queue_clock()->starts == 0)
        queue_clock()->most_ns += ticks * TICK_NS;
}

uint64_t queue_clock_known(void)
{
    return world->now_ns - world->wall_set_at_ns > (uint64_t)SECOND_NS ? world->wall_steps : 0;
}

uint64_t queue_clock_doubts(void)
{
    uint64_t doubts = 0;

    for (unsigned cell = 1; cell <= CLUSTER_CELLS; cell++)
        doubts += clock_of(cell)->doubts;
    return doubts;
}
