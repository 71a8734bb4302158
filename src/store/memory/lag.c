/* The memory store as it was a while ago: samples of it, each of which is what there was from the commit before it until
 * the one that it was taken in front of. None is taken that would end less than a sixteenth of the lag behind the one before:
 * what there was in between is shown that much later. */
#include "store/memory/memory_private.h"

#include <assert.h>
#include <stdlib.h>

#include "base/clock.h"

#define SAMPLES_A_LAG 16u
/* Those of one lag, the one before them, and two more. */
#define SAMPLES_MAX   (SAMPLES_A_LAG + 4)

struct sample {
    instant since, until;             /* in between nothing was committed */
    struct memory_snapshot *snapshot; /* of no partition that there is */
};

/* All under the lock of the store. */
struct memory_lag {
    uint64_t ticks;
    instant changed; /* the newest commit */
    size_t count;    /* at least one, the oldest first */
    struct sample samples[SAMPLES_MAX];
};

static void drop(struct memory_store *store, struct sample *sample)
{
    memory_snapshot_leave(store, sample->snapshot);
    treap_release(sample->snapshot->root);
    free(sample->snapshot);
}

/* Those not shown to readers from `now` on. */
static void drop_old(struct memory_store *store, struct memory_lag *lag, instant now)
{
    size_t old = 0;

    while (old + 1 < lag->count && lag->samples[old + 1].since + lag->ticks <= now)
        drop(store, &lag->samples[old++]);
    lag->count -= old;
    memmove(lag->samples, lag->samples + old, lag->count * sizeof lag->samples[0]);
}

static void take(struct memory_store *store, struct memory_lag *lag, instant now)
{
    static const struct partition nowhere = { .space = { { 0 } }, .key = BYTES("") };
    struct sample *sample = &lag->samples[lag->count++];

    assert(lag->count <= SAMPLES_MAX);
    *sample = (struct sample){ .since = lag->changed,
                               .until = now,
                               .snapshot = memory_snapshot_new(store, nowhere) };
    memory_snapshot_enter(store, sample->snapshot, NULL);
}

void memory_lag_begin(struct memory_store *store, uint64_t ticks)
{
    struct memory_lag *lag = xcalloc(1, sizeof *lag);

    assert(ticks >= SAMPLES_A_LAG && !store->lag);
    lag->ticks = ticks;
    lock_take(&store->lock);
    store->lag = lag;
    lag->changed = clock_now();
    take(store, lag, lag->changed);
    lock_give(&store->lock);
}

void memory_lag_release(struct memory_store *store)
{
    struct memory_lag *lag = store->lag;

    if (!lag)
        return;
    lock_take(&store->lock);
    while (lag->count > 0)
        drop(store, &lag->samples[--lag->count]);
    store->lag = NULL;
    lock_give(&store->lock);
    free(lag);
}

void memory_lag_commits(struct memory_store *store)
{
    struct memory_lag *lag = store->lag;
    instant now;

    lock_assert_held(&store->lock);
    if (!lag)
        return;
    now = clock_now();
    drop_old(store, lag, now);
    if (now - lag->samples[lag->count - 1].until >= lag->ticks / SAMPLES_A_LAG)
        take(store, lag, now);
    lag->changed = now;
}

/* The newest that is old enough; of a store that was opened a shorter time ago the first. */
struct memory_snapshot *memory_lag_shown(const struct memory_store *store, instant *ret_until)
{
    const struct memory_lag *lag = store->lag;
    size_t i = lag->count - 1;

    lock_assert_held(&store->lock);
    *ret_until = clock_now() - lag->ticks;
    if (lag->changed <= *ret_until)
        return NULL;
    while (i > 0 && lag->samples[i].since > *ret_until)
        i--;
    if (lag->samples[i].until < *ret_until)
        *ret_until = lag->samples[i].until;
    return lag->samples[i].snapshot;
}
