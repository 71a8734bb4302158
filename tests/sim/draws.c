/* See draws.h. */
#include "draws.h"

#include "world.h"

#define SECOND_NS UINT64_C(1000000000)

struct draws draws_of(unsigned client, unsigned number)
{
    return (struct draws){ world_mix(world->plan.seed * 1000003 + client) + number * 64 };
}

unsigned draw(struct draws *draws, unsigned below)
{
    draws->state += 0x9E3779B97F4A7C15u;
    return (unsigned)(world_mix(draws->state) >> 20) % below;
}

unsigned draw_weighted(struct draws *draws, const unsigned weights[], unsigned count)
{
    unsigned total = 0, chosen = 0, at;

    for (unsigned i = 0; i < count; i++)
        total += weights[i];
    at = draw(draws, total);
    while (at >= weights[chosen])
        at -= weights[chosen++];
    return chosen;
}

void draw_behaviour(struct draws *draws, struct ask *ask, unsigned once_in, unsigned seconds)
{
    if (draw(draws, once_in) == 0)
        ask->think_ns = draw(draws, seconds) * SECOND_NS;
    if (world->plan.faults & FAULT_WIRE)
        framing_draw(draws, &ask->framing);
    if ((world->plan.faults & FAULT_CLIENTS) == 0)
        return;
    ask->in_pieces = draw(draws, 3) == 0;
    if (draw(draws, 8) == 0)
        ask->pause_ns = draw(draws, 2) == 0 ? SECOND_NS : 1000000;
    ask->goes_away = draw(draws, 25) == 0;
    ask->half_closes = draw(draws, 25) == 0;
    if (draw(draws, 12) == 0)
        ask->stops_after = 1 + draw(draws, 2);
}
