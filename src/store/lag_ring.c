#include "store/lag_ring.h"

#include <assert.h>
#include <string.h>

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
