/* The memory store as it was a while ago: a sample is a snapshot of a partition that does not
 * exist. */
#include "store/lag_ring.h"
#include "store/memory/memory_private.h"

#include <assert.h>
#include <stdlib.h>

static void drop(struct memory_store *store, struct memory_snapshot *snapshot)
{
    memory_snapshot_leave(store, snapshot);
    treap_release(snapshot->root);
    free(snapshot);
}

static void take(struct memory_store *store, struct lag_ring *ring, instant now)
{
    static const struct partition nowhere = { .space = { { 0 } }, .key = BYTES("") };
    struct memory_snapshot *snapshot = memory_snapshot_new(store, nowhere);

    memory_snapshot_enter(store, snapshot, NULL);
    lag_ring_add(ring, now, snapshot);
}

void memory_lag_begin(struct memory_store *store, uint64_t ticks)
{
    struct lag_ring *ring = xcalloc(1, sizeof *ring);
    instant now = clock_now();

    assert(!store->lag);
    lag_ring_init(ring, ticks, now);
    lock_take(&store->lock);
    store->lag = ring;
    take(store, ring, now);
    lock_give(&store->lock);
}

void memory_lag_end(struct memory_store *store)
{
    struct lag_ring *ring = store->lag;

    lock_take(&store->lock);
    while (ring->count > 0)
        drop(store, ring->samples[--ring->count].state);
    store->lag = NULL;
    lock_give(&store->lock);
    free(ring);
}

void memory_lag_commits(struct memory_store *store)
{
    struct lag_ring *ring = store->lag;
    struct memory_snapshot *old;
    instant now;

    lock_assert_held(&store->lock);
    if (!ring)
        return;
    now = clock_now();
    while ((old = lag_ring_take_old(ring, now)))
        drop(store, old);
    if (lag_ring_is_due(ring, now))
        take(store, ring, now);
    lag_ring_changed(ring, now);
}

struct memory_snapshot *memory_lag_shown(const struct memory_store *store, instant *ret_until)
{
    lock_assert_held(&store->lock);
    return lag_ring_shown(store->lag, clock_now(), ret_until);
}
