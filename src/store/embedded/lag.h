/* The store as it was a while ago, for a view of it that lags (lag_view.c): states that are kept (states.h), each taken in front
 * of a commit, by whoever makes that, without waiting for a disk. Which of them is shown lag_ring.h says. A state stays
 * as long as a snapshot of it is open, and with it the pieces that it refers to. decision: 830 */
#ifndef LAGRA_STORE_EMBEDDED_LAG_H
#define LAGRA_STORE_EMBEDDED_LAG_H

#include "store/embedded/states.h"

struct lag_state {
    struct store_state *state;
    struct view *view; /* of it, for those who read it */
    /* It shows all commits up to the first, and none behind the second, which is to be durable before it is told. */
    uint64_t shown_from, sequence;
    instant taken;
    unsigned holders; /* snapshots, and the ring; under the lock */
};

/* The store lags from now on, until lag_end(): before that nobody reads a state any longer. Start-up, and the end. */
void lag_begin(struct embedded *embedded, uint64_t ticks);
void lag_end(struct embedded *embedded);
/* A commit, or a return to a state, is about to be made. Any thread, without a lock. */
void lag_commits(struct embedded *embedded);

/* Holds the state that is shown now, until lag_leave(). NULL: the store as it is. ret_until: everything before it is
 * there. Any thread. */
struct lag_state *lag_enter(struct embedded *embedded, instant *ret_until);
void lag_leave(struct embedded *embedded, struct lag_state *state);
/* Was the space dropped by then? */
bool lag_state_lacks(struct embedded *embedded, const struct lag_state *state,
                     const struct guid *space);

/* For store_open_lagging(). */
struct store *embedded_open_lagging(struct store *store, uint64_t ticks);

#endif
