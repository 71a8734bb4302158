/* States of a store other than the newest: saved states, to which the store can return, and the
 * lagging state for secondary endpoints. */
#ifndef LAGRA_STORE_STATES_H
#define LAGRA_STORE_STATES_H

#include "store/store.h"

/* ---- saved states ---- */

struct store_state;
/* Saves the current state of all partitions until it is dropped or the process ends. Returns NULL
 * if the engine does not support it. Any thread may call this and the next two functions. */
struct store_state *store_keep_state(struct store *store);
/* Must be called before the store is closed. */
void store_drop_state(struct store *store, struct store_state *state);
/* Returns to the state atomically, like a commit to all partitions. Snapshots opened afterwards
 * show it; those already open are unaffected. A commit fails with STORE_CONFLICT if one of its
 * partitions has changed, or if it depends on data read before the return (struct store_access,
 * returns). Waits for reads from the disk.
 *
 * except        a space without pieces, index, counters and tasks, which keeps its current state;
 *               or NULL
 * ret_sequence  must be durable before the success is reported
 *
 * Returns STORE_OK
 *         STORE_FULL      too little disk space; nothing was changed
 *         STORE_SHORTAGE  the return would write more than 128 MiB; or like a commit
 *         STORE_CORRUPT, STORE_IO */
enum store_result store_return_to(struct store *store, struct store_state *state,
                                  const struct guid *except, uint64_t *ret_sequence);

/* Returns 1 plus the number of times the store has returned to a saved state, or has restarted
 * decisions. A decision that reads
 * something (such as a container's record) before it opens the parts of its commit passes this
 * number to the commit, which fails if the store has returned to a state in between.
 * Thread-safe. */
uint64_t store_returns(const struct store *store);
/* Makes all decisions start again that have read something before and have not committed yet, as if
 * the store had returned to its current state. Called after a commit on which later commits to the
 * space depend although they do not include its partition. Once it returns, no commit to the space
 * is based on data that was read before the call. Waits for commits in progress, not for a disk.
 * Thread-safe. */
void store_restart_decisions(struct store *store, struct guid space);

/* ---- the lagging state ---- */

/* Opens a read-only store for the secondary endpoint. It shows the state that `store` had this
 * long ago, or up to a sixteenth longer. Must be closed before `store`. lag_ticks: 16 or more.
 * Called at startup. */
struct store *store_open_lagging(struct store *store, uint64_t lag_ticks);
/* Returns the time before which all commits are visible in snapshots opened from now on; `now` if
 * the store does not lag. Thread-safe. */
instant store_shows_until(struct store *store, instant now);

#endif
