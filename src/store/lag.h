/* Internal to store/: the lagging view of a store (store_open_lagging()), for either engine.
 *
 * Before a commit, the engine's state is frozen and becomes a sample, valid since the previous
 * commit. No sample is taken if it would end less than a sixteenth of the lag after the previous
 * one; the changes in between then appear later by at most that much. The ring selects the sample
 * to show.
 * decisions: 535, 830, 1096 */
#ifndef LAGRA_STORE_LAG_H
#define LAGRA_STORE_LAG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/clock.h"

struct store;

struct lag_state {
    struct frozen_state *frozen;
    uint64_t sequence; /* must be durable before anything read from this state is reported */
    /* number of snapshots that use it, plus 1 for the ring; under the lock of struct lag */
    unsigned holders;
};

/* Set and clear store->lag, at startup and shutdown. All readers must have ended before
 * lag_end(). */
void lag_begin(struct store *store, uint64_t ticks);
void lag_end(struct store *store);

struct lag;
/* Called before a commit, or a return to a saved state. Thread-safe; called without locks. */
void lag_commits(struct lag *lag);
/* Acquires the state to show now, until lag_leave(). Returns NULL if that is the current state.
 * *ret_until: everything committed before it is included. Thread-safe. */
struct lag_state *lag_enter(struct lag *lag, instant *ret_until);
void lag_leave(struct lag *lag, struct lag_state *state);

/* ---- the ring of samples ---- */

#define LAG_SAMPLES     16u /* per lag */
/* Samples of one lag, the sample before it, and spare ones. */
#define LAG_SAMPLES_MAX (LAG_SAMPLES + 4)

struct lag_sample {
    instant since, until; /* no commit happened between them */
    void *state;          /* owned by the caller */
};

/* The caller holds a lock around all calls. */
struct lag_ring {
    uint64_t ticks;
    instant changed; /* time of the newest commit */
    size_t count;    /* oldest first */
    struct lag_sample samples[LAG_SAMPLES_MAX];
};

/* ticks: at least LAG_SAMPLES */
void lag_ring_init(struct lag_ring *ring, uint64_t ticks, instant now);
/* Call these before a commit, in this order. lag_ring_take_old() removes a sample that will no
 * longer be shown and returns its state, or NULL if none exists; lag_ring_is_due() returns true
 * if a sample must be taken, which lag_ring_add() adds; lag_ring_changed() records the commit. */
void *lag_ring_take_old(struct lag_ring *ring, instant now);
bool lag_ring_is_due(const struct lag_ring *ring, instant now);
void lag_ring_add(struct lag_ring *ring, instant now, void *state);
void lag_ring_changed(struct lag_ring *ring, instant now);
/* Returns the state to show now: the newest that is old enough or, shortly after the store was
 * opened, the first one; NULL for the current state. *ret_until: everything committed before it is
 * included. */
void *lag_ring_shown(const struct lag_ring *ring, instant now, instant *ret_until);

#endif
