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
    if (!state || free_ns == 0 || free_ns + SOON_NS >= world->now_ns)
        return;
    world_say("it could have been decided since %.6f, by commit %" PRIu64, (double)free_ns / 1e9,
              since);
    fs_judge_fail(slot, NULL, "nothing has been in its way for a second");
}
