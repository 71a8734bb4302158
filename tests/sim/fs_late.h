/* Late instead of never: once nothing is in the way of a request any more, it is decided within a second of virtual time. A waiter
 * that only its own time-out wakes is found so. */
#ifndef LAGRA_SIM_FS_LATE_H
#define LAGRA_SIM_FS_LATE_H

#include "fs_judge.h"

/* Has the request to wait for others in a state? One that has waited goes on when no break is under way any more. */
typedef bool waits_fn(const struct fs_slot *slot, const struct fs_state *state, bool has_waited);
/* The request of the slot is about to commit, in the newest state. */
void fs_judge_lateness(const struct fs_slot *slot, waits_fn *waits, bool has_waited);

#endif
