/* See fs_away.h. */
#include "fs_away.h"

#include <inttypes.h>

#include "fs_change.h"
#include "sm_plain.h"
#include "sm_seen.h"
#include "world.h"

#define LATE_NS    (200 * UINT64_C(1000000000))
/* The server's clock goes by this part faster or slower, to meet the wall clock (decision: 42). */
#define CLOCK_PART 16u

bool fs_is_late(void)
{
    const struct fs_state *state = fs_state_at(world->commits);

    for (unsigned i = 0; i < FS_OPENS; i++) {
        const struct fs_open *open = &state->opens[i];

        if (open->id > 0 && open->persists && open->is_away &&
            (open->may_have_ended || world->now_ns > open->away_ns + LATE_NS))
            return true;
    }
    return false;
}

/* Its time, by the server's clock. */
static bool may_be_over(const struct fs_open *open)
{
    return (world->plan.faults & FAULTS_OF_TIME) ||
           world->now_ns > open->away_ns + open->kept_ns - open->kept_ns / CLOCK_PART;
}

/* Whoever wanted a file deleted wants so as long as it is open. */
static void forget_pending(struct fs_state *state)
{
    for (unsigned i = 0; i < FS_NODES; i++)
        if (!fs_is_open(state, &state->nodes[i]))
            state->nodes[i].is_delete_pending = false;
}

/* Those whose time is over by then. */
static bool end_overdue(struct fs_state *state, uint64_t until_ns)
{
    bool has_ended = false;

    for (unsigned i = 0; i < FS_OPENS; i++) {
        struct fs_open *open = &state->opens[i];

        if (open->id == 0 || !open->is_of_before ||
            (!open->may_have_ended && open->away_ns + open->kept_ns > until_ns))
            continue;
        fs_end_open(state, open);
        has_ended = true;
    }
    if (has_ended)
        forget_pending(state);
    return has_ended;
}

/* One that was left by an earlier process, and not returned to in the last one, has ended for good if that lasted as
 * long as it is kept. By the server's clock, so it is not known which if it was nearly as long. decision: 990 */
bool fs_has_ended_before(struct fs_open *open)
{
    uint64_t ends_ns = open->away_ns + open->kept_ns, doubt_ns = open->kept_ns / CLOCK_PART;

    if (!open->is_of_before)
        return false;
    open->may_have_ended = open->may_have_ended || world->now_ns + doubt_ns >= ends_ns;
    return world->now_ns >= ends_ns + doubt_ns;
}

bool fs_end_doubtful(struct fs_state *state)
{
    uint64_t least_ns = UINT64_MAX;

    for (unsigned i = 0; i < FS_OPENS; i++) {
        const struct fs_open *open = &state->opens[i];

        if (open->id > 0 && open->may_have_ended && open->kept_ns < least_ns)
            least_ns = open->kept_ns;
    }
    if (least_ns == UINT64_MAX)
        return false;
    for (unsigned i = 0; i < FS_OPENS; i++) {
        struct fs_open *open = &state->opens[i];

        if (open->id > 0 && open->may_have_ended && open->kept_ns <= least_ns)
            fs_end_open(state, open);
    }
    forget_pending(state);
    return true;
}

bool fs_end_overdue(struct fs_state *state)
{
    return end_overdue(state, world->now_ns + FS_KEPT_NS / CLOCK_PART);
}

static struct fs_open *find_handle(struct fs_state *state, uint64_t handle)
{
    for (unsigned i = 0; i < FS_OPENS; i++)
        if (state->opens[i].id > 0 && state->opens[i].handle == handle)
            return &state->opens[i];
    return NULL;
}

bool fs_away_committed(void)
{
    const struct sm_overdue seen = sm_overdue_seen();
    struct fs_state *state;
    struct fs_open *open;
    struct fs_node *node;
    const char *why = NULL;

    if (seen.handle == 0)
        return false;
    state = fs_next_state(++world->commits);
    open = find_handle(state, seen.handle);
    if (!open || !open->is_away)
        world_fail("the server closes a handle that nobody has left: %" PRIX64, seen.handle);
    if (!may_be_over(open))
        world_fail("the server closes a handle that its client may still come back to");
    end_overdue(state, open->away_ns + open->kept_ns); /* by the same clock */
    node = &state->nodes[fs_node_of(state, open->node) - state->nodes];
    fs_close_open(state, open);
    if (node->exists && node->etag != 0 && node->etag != seen.etag) { /* as sm_judge.c has it */
        fs_write_node(state, node);
        why = fs_fill(world->commits, seen.etag);
    }
    if (why)
        world_fail("a handle is closed that nobody has come back to: %s", why);
    world_say("%.6f commit %" PRIu64 " of the server: closes a handle that nobody came back to",
              (double)world->now_ns / 1e9, world->commits);
    return true;
}

void fs_close_away(struct fs_state *state)
{
    for (unsigned i = 0; i < FS_OPENS; i++)
        if (state->opens[i].id > 0 && state->opens[i].is_of_before)
            fs_end_open(state, &state->opens[i]);
    forget_pending(state);
    for (unsigned i = 0; i < FS_OPENS; i++)
        if (state->opens[i].id > 0 && state->opens[i].is_away)
            fs_close_open(state, &state->opens[i]);
}
