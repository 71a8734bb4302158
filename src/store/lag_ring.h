/* Inside store/ only: selects the state that a lagging view of a store shows
 * (store_open_lagging()).
 *
 * A sample is the state of the store before a commit, valid since the previous commit. No sample is
 * taken if it would end less than a sixteenth of the lag after the previous one: its changes are
 * then shown that much later. The engine keeps the states, and holds a lock during all calls.
 * decisions: 535, 830 */
#ifndef LAGRA_STORE_LAG_RING_H
#define LAGRA_STORE_LAG_RING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/clock.h"

#define LAG_SAMPLES     16u /* per lag */
/* For one lag, the sample before it, and spare ones. */
#define LAG_SAMPLES_MAX (LAG_SAMPLES + 4)

struct lag_sample {
    instant since, until; /* there was no commit between them */
    void *state;          /* belongs to the engine */
};

struct lag_ring {
    uint64_t ticks;
    instant changed; /* time of the newest commit */
    size_t count;    /* oldest first */
    struct lag_sample samples[LAG_SAMPLES_MAX];
};

/* ticks: at least LAG_SAMPLES */
void lag_ring_init(struct lag_ring *ring, uint64_t ticks, instant now);
/* Call these before a commit, in this order. lag_ring_take_old() returns the state of a sample that
 * will not be shown any more, NULL when there are no more; lag_ring_is_due() returns true if a
 * sample must be taken, which lag_ring_add() adds; lag_ring_changed() records the commit. */
void *lag_ring_take_old(struct lag_ring *ring, instant now);
bool lag_ring_is_due(const struct lag_ring *ring, instant now);
void lag_ring_add(struct lag_ring *ring, instant now, void *state);
void lag_ring_changed(struct lag_ring *ring, instant now);
/* Returns the state to show now: the newest that is old enough or, shortly after the store was
 * opened, the first one. NULL: the current state. *ret_until: everything committed before it is
 * included. */
void *lag_ring_shown(const struct lag_ring *ring, instant now, instant *ret_until);

#endif
