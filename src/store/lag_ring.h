/* Inside the store room only: which states of a store are shown by one that lags (store_open_lagging()).
 *
 * A sample is a state of the store, and what there was from the commit before it until the one that it was taken in front
 * of. None is taken that would end less than a sixteenth of the lag behind the one before: what there was in between is shown
 * that much later. The engine knows how a state is kept, and has a lock around all this. decisions: 535, 830 */
#ifndef LAGRA_STORE_LAG_RING_H
#define LAGRA_STORE_LAG_RING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/clock.h"

#define LAG_SAMPLES     16u /* of one lag */
/* Those of one lag, the one before them, and two more. */
#define LAG_SAMPLES_MAX (LAG_SAMPLES + 4)

struct lag_sample {
    instant since, until; /* in between nothing was committed */
    void *state;          /* of the engine */
};

struct lag_ring {
    uint64_t ticks;
    instant changed; /* the newest commit */
    size_t count;    /* the oldest first */
    struct lag_sample samples[LAG_SAMPLES_MAX];
};

/* ticks: LAG_SAMPLES or more */
void lag_ring_init(struct lag_ring *ring, uint64_t ticks, instant now);
/* Before a commit, in this order: takes out the state of a sample that nobody is shown from now on, NULL: there is none
 * left; says whether one is to be taken, and takes it; then there has been a change. */
void *lag_ring_take_old(struct lag_ring *ring, instant now);
bool lag_ring_is_due(const struct lag_ring *ring, instant now);
void lag_ring_add(struct lag_ring *ring, instant now, void *state);
void lag_ring_changed(struct lag_ring *ring, instant now);
/* The state that is shown now: the newest that is old enough; of a store that was opened a shorter time ago the first.
 * NULL: the store as it is. ret_until: everything before it is there. */
void *lag_ring_shown(const struct lag_ring *ring, instant now, instant *ret_until);

#endif
