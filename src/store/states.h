/* States of a store other than the newest: those that are kept, and gone back to; and the one of a while
 * ago. */
#ifndef LAGRA_STORE_STATES_H
#define LAGRA_STORE_STATES_H

#include "store/store.h"

/* ---- that are kept ---- */

struct store_state;
/* Keeps the state that all partitions have at this moment, until it is dropped, or the process ends. NULL: the engine
 * keeps none. Any thread, as the next two. */
struct store_state *store_keep_state(struct store *store);
/* Before the store is closed. */
void store_drop_state(struct store *store, struct store_state *state);
/* Goes back to it, at one moment, as a commit to all partitions: whoever opens a snapshot from now on sees it. Open ones
 * show what they showed; a commit is STORE_CONFLICT if one of its partitions has become another one, or if it says that
 * it rests on something that was read before (struct store_access, returns). Waits for the disk's reads.
 *
 * except        a space of records without pieces, index, counters and tasks, which stays as it is now; NULL: none
 * ret_sequence  must be durable before it is reported
 * returns       STORE_OK
 *               STORE_FULL      there is no room on the disk for what it writes; nothing was changed
 *               STORE_SHORTAGE  it would write more than 128 MiB; or as of a commit
 *               STORE_CORRUPT, STORE_IO */
enum store_result store_return_to(struct store *store, struct store_state *state,
                                  const struct guid *except, uint64_t *ret_sequence);

/* How often that was done, from 1 on, which is what a decision says that has read something before it opened the parts of
 * its commit: a container's record, say, which may be gone. Any thread. */
uint64_t store_returns(const struct store *store);

/* ---- of a while ago ---- */

/* A store for reading alone, which shows what that one showed so long ago, or a sixteenth more: for the secondary endpoint.
 * To be closed before that one. lag_ticks: 16 or more. Start-up. */
struct store *store_open_lagging(struct store *store, uint64_t lag_ticks);
/* What was committed before that instant is shown by snapshots that are opened from now on. now: returned by a store
 * that shows all that there is. Any thread. */
instant store_shows_until(struct store *store, instant now);

#endif
