/* The store as it was a while ago, for a lagging view of it (lag_view.c): kept states (states.h),
 * each taken before a commit, by the thread that commits, without waiting for a disk. lag_ring.h
 * selects the state to show. A state is kept as long as a snapshot of it is open, with the pieces
 * that it refers to. decision: 830 */
#ifndef LAGRA_STORE_EMBEDDED_LAG_H
#define LAGRA_STORE_EMBEDDED_LAG_H

#include "store/embedded/states.h"

struct lag_state {
    struct store_state *state;
    struct view *view; /* for its readers */
    /* It shows all commits up to the first and none after the second, which must be durable before
     * results are reported. */
    uint64_t shown_from, sequence;
    instant taken;
    unsigned holders; /* snapshots and the ring; under the lock */
};

/* Starts lagging, until lag_end(), before which all readers must have ended. Startup and
 * shutdown. */
void lag_begin(struct embedded *embedded, uint64_t ticks);
void lag_end(struct embedded *embedded);
/* Called before a commit or a return to a state. Any thread, without a lock. */
void lag_commits(struct embedded *embedded);

/* Holds the state to show now, until lag_leave(). NULL: the current state. *ret_until: everything
 * committed before it is included. Any thread. */
struct lag_state *lag_enter(struct embedded *embedded, instant *ret_until);
void lag_leave(struct embedded *embedded, struct lag_state *state);
/* Returns true if the space was dropped in that state. */
bool lag_state_lacks(struct embedded *embedded, const struct lag_state *state,
                     const struct guid *space);

/* For store_open_lagging(). */
struct store *embedded_open_lagging(struct store *store, uint64_t ticks);

#endif
