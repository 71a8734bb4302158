/* See fs_late.h. */
#include "fs_late.h"

#include <inttypes.h>

#include "fs_model.h"
#include "sm_plain.h"
#include "world.h"

#define SOON_NS UINT64_C(1000000000)

/* Pauses of the client are not the server's, nor is what a fault puts off, or what another server takes of
 * a copy. */
static bool is_known(const struct fs_slot *slot)
{
    return !slot->is_later_part &&
           !(world->plan.faults & (FAULTS_OF_TIME | FAULT_CLIENTS | FAULT_CLOCK | FAULT_WIRE)) &&
           slot->ask->smb.waits_ns == 0 && slot->ask->smb.op != SM_RETURN &&
           !slot->ask->smb.replays && !fs_has_source(slot->ask->fs.op);
}

/* The id of the node that its path leads to; 0: none, or it is asked by a handle. */
static uint64_t node_in(const struct fs_slot *slot, const struct fs_state *state)
{
    const struct ask *ask = slot->ask;
    const struct fs_path *path = ask->smb.op == SM_NOTHING ? &ask->fs.path : &ask->smb.path;
    unsigned at =
        ask->smb.op == SM_NOTHING || ask->smb.op == SM_OPEN ? fs_find(state, path) : FS_NODES;

    return at < FS_NODES ? state->nodes[at].id : 0;
}

void fs_judge_lateness(const struct fs_slot *slot, waits_fn *waits, bool has_waited)
{
    const struct fs_state *state = fs_state_at(world->commits);
    uint64_t free_ns = 0, since = 0;

    if (!is_known(slot))
        return;
    for (; state && !waits(slot, state, has_waited); state = state->older) {
        free_ns = state->at_ns;
        since = state->since;
        if (state->since <= slot->before)
            return; /* nothing was in its way */
    }
    /* A path that leads elsewhere by now wakes nobody: it waits for the file that it led to. */
    if (!state || node_in(slot, state) != node_in(slot, fs_state_at(world->commits)))
        return;
    if (free_ns == 0 || free_ns + SOON_NS >= world->now_ns)
        return;
    world_say("it could have been decided since %.6f, by commit %" PRIu64, (double)free_ns / 1e9,
              since);
    fs_judge_fail(slot, NULL, "nothing has been in its way for a second");
}
