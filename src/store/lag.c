/* See lag.h. */
#include "store/lag.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "store/store_private.h"

/* ---- the ring of samples ---- */

void lag_ring_init(struct lag_ring *ring, uint64_t ticks, instant now)
{
    assert(ticks >= LAG_SAMPLES);
    *ring = (struct lag_ring){ .ticks = ticks, .changed = now };
}

void *lag_ring_take_old(struct lag_ring *ring, instant now)
{
    void *state = ring->samples[0].state;

    if (ring->count < 2 || ring->samples[1].since + ring->ticks > now)
        return NULL;
    ring->count--;
    memmove(ring->samples, ring->samples + 1, ring->count * sizeof ring->samples[0]);
    return state;
}

bool lag_ring_is_due(const struct lag_ring *ring, instant now)
{
    return ring->count == 0 ||
           now - ring->samples[ring->count - 1].until >= ring->ticks / LAG_SAMPLES;
}

void lag_ring_add(struct lag_ring *ring, instant now, void *state)
{
    assert(ring->count < LAG_SAMPLES_MAX);
    ring->samples[ring->count++] =
        (struct lag_sample){ .since = ring->changed, .until = now, .state = state };
}

void lag_ring_changed(struct lag_ring *ring, instant now)
{
    ring->changed = now;
}

void *lag_ring_shown(const struct lag_ring *ring, instant now, instant *ret_until)
{
    size_t i = ring->count - 1;

    assert(ring->count > 0);
    *ret_until = now - ring->ticks;
    if (ring->changed <= *ret_until)
        return NULL;
    while (i > 0 && ring->samples[i].since > *ret_until)
        i--;
    if (ring->samples[i].until < *ret_until)
        *ret_until = ring->samples[i].until;
    return ring->samples[i].state;
}

/* ---- the states ---- */

struct lag {
    struct store *store;
    struct lock lock;
    struct lag_ring ring; /* samples are struct lag_state; under the lock */
};

static struct lag_state *state_new(const struct lag *lag)
{
    struct lag_state *state = xcalloc(1, sizeof *state);

    state->frozen = lag->store->operations->freeze(lag->store, &state->sequence);
    state->holders = 1;
    return state;
}

/* Caller holds the lock. Returns true if the caller must call state_free(). */
static bool release_holder(struct lag_state *state)
{
    assert(state->holders > 0);
    return --state->holders == 0;
}

static void state_free(const struct lag *lag, struct lag_state *state)
{
    lag->store->operations->thaw(lag->store, state->frozen);
    free(state);
}

void lag_commits(struct lag *lag)
{
    struct lag_state *old, *unused[LAG_SAMPLES_MAX];
    size_t count = 0;
    instant now;

    lock_acquire(&lag->lock);
    now = clock_now();
    while ((old = lag_ring_take_old(&lag->ring, now)))
        if (release_holder(old))
            unused[count++] = old;
    if (lag_ring_is_due(&lag->ring, now))
        lag_ring_add(&lag->ring, now, state_new(lag));
    lag_ring_changed(&lag->ring, now);
    lock_release(&lag->lock);
    while (count > 0)
        state_free(lag, unused[--count]);
}

struct lag_state *lag_enter(struct lag *lag, instant *ret_until)
{
    struct lag_state *state;

    lock_acquire(&lag->lock);
    state = lag_ring_shown(&lag->ring, clock_now(), ret_until);
    if (state)
        state->holders++;
    lock_release(&lag->lock);
    return state;
}

void lag_leave(struct lag *lag, struct lag_state *state)
{
    bool was_last;

    lock_acquire(&lag->lock);
    was_last = release_holder(state);
    lock_release(&lag->lock);
    if (was_last)
        state_free(lag, state);
}

void lag_begin(struct store *store, uint64_t ticks)
{
    struct lag *lag = xcalloc(1, sizeof *lag);
    instant now = clock_now();

    assert(!store->lag && store->operations->freeze);
    lag->store = store;
    lock_init(&lag->lock, RANK_LAG);
    lag_ring_init(&lag->ring, ticks, now);
    lag_ring_add(&lag->ring, now, state_new(lag));
    store->lag = lag;
}

void lag_end(struct store *store)
{
    struct lag *lag = store->lag;

    store->lag = NULL;
    while (lag->ring.count > 0)
        lag_leave(lag, lag->ring.samples[--lag->ring.count].state);
    lock_destroy(&lag->lock);
    free(lag);
}
