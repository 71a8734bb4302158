#include "store/embedded/lag.h"

#include <assert.h>
#include <stdlib.h>

#include "store/embedded/embedded_private.h"
#include "store/lag_ring.h"

struct lag {
    struct lock lock;
    struct lag_ring ring; /* of struct lag_state; under lock */
};

static struct lag_state *state_new(struct embedded *embedded, instant now)
{
    struct lag_state *state = xcalloc(1, sizeof *state);

    state->shown_from = keyspace_sequence(&embedded->keyspace);
    state->state = states_show(embedded);
    state->sequence = keyspace_sequence(&embedded->keyspace);
    state->view = view_of_state(state->state);
    state->taken = now;
    state->holders = 1;
    return state;
}

void lag_begin(struct embedded *embedded, uint64_t ticks)
{
    struct lag *lag = xcalloc(1, sizeof *lag);
    instant now = clock_now();

    assert(!embedded->lag);
    lock_init(&lag->lock, RANK_LAG);
    lag_ring_init(&lag->ring, ticks, now);
    lag_ring_add(&lag->ring, now, state_new(embedded, now));
    embedded->lag = lag;
}

void lag_end(struct embedded *embedded)
{
    struct lag *lag = embedded->lag;

    while (lag->ring.count > 0)
        lag_leave(embedded, lag->ring.samples[--lag->ring.count].state);
    embedded->lag = NULL;
    lock_release(&lag->lock);
    free(lag);
}

/* Under the lock. Returns true if the caller must call state_free(). */
static bool let_go(struct lag_state *state)
{
    assert(state->holders > 0);
    return --state->holders == 0;
}

static void state_free(struct embedded *embedded, struct lag_state *state)
{
    states_over(embedded, state->state);
    free(state->view);
    free(state);
}

void lag_commits(struct embedded *embedded)
{
    struct lag *lag = embedded->lag;
    struct lag_state *old, *over[LAG_SAMPLES_MAX];
    size_t count = 0;
    instant now;

    if (!lag)
        return;
    lock_take(&lag->lock);
    now = clock_now();
    while ((old = lag_ring_take_old(&lag->ring, now)))
        if (let_go(old))
            over[count++] = old;
    if (lag_ring_is_due(&lag->ring, now))
        lag_ring_add(&lag->ring, now, state_new(embedded, now));
    lag_ring_changed(&lag->ring, now);
    lock_give(&lag->lock);
    while (count > 0)
        state_free(embedded, over[--count]);
}

struct lag_state *lag_enter(struct embedded *embedded, instant *ret_until)
{
    struct lag *lag = embedded->lag;
    struct lag_state *state;

    lock_take(&lag->lock);
    state = lag_ring_shown(&lag->ring, clock_now(), ret_until);
    if (state)
        state->holders++;
    lock_give(&lag->lock);
    return state;
}

void lag_leave(struct embedded *embedded, struct lag_state *state)
{
    bool was_last;

    lock_take(&embedded->lag->lock);
    was_last = let_go(state);
    lock_give(&embedded->lag->lock);
    if (was_last)
        state_free(embedded, state);
}

/* A drop that is no longer remembered needs no check: the state has all of the space or nothing. */
bool lag_state_lacks(struct embedded *embedded, const struct lag_state *state,
                     const struct guid *space)
{
    uint64_t dropped_at;

    spaces_enter(&embedded->spaces, space);
    dropped_at = spaces_dropped_at(&embedded->spaces, space);
    spaces_leave(&embedded->spaces, space);
    return dropped_at > 0 && dropped_at <= state->shown_from;
}
