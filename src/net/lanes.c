/* See lanes.h. Unrelated connections may share a lane, since there are only 64. */
#include "net/lanes.h"

#include <assert.h>
#include <stddef.h>

#include "net/net_private.h"

/* A lane is active until it has had no turn for this many rounds, or up to twice as many. */
#define ROUNDS_OF_LATE 64u

uint8_t lanes_number(const void *whose)
{
    uint64_t hash = (uint64_t)(uintptr_t)whose * UINT64_C(0x9E3779B97F4A7C15);

    return whose ? (uint8_t)(1 + (hash >> 32) % (LANES - 1)) : 0;
}

void lanes_add(struct lanes *lanes, struct connection *connection)
{
    struct lane *lane = &lanes->of[connection->lane];

    assert(connection->lane < LANES && !lane->first == !lane->last);
    connection->next_ready = NULL;
    if (lane->last)
        lane->last->next_ready = connection;
    else
        lane->first = connection;
    lane->last = connection;
    lanes->ready |= UINT64_C(1) << connection->lane;
    lanes->count++;
}

bool lanes_are_several(const struct lanes *lanes)
{
    uint64_t all = lanes->ready | lanes->recent | lanes->earlier;

    return all & (all - 1);
}

void lanes_begin_round(struct lanes *lanes)
{
    if (++lanes->rounds == ROUNDS_OF_LATE) {
        lanes->rounds = 0;
        lanes->earlier = lanes->recent;
        lanes->recent = 0;
    }
    lanes->left = lanes->count;
    if (lanes->left > LANES_ROUND_MOST && lanes_are_several(lanes))
        lanes->left = LANES_ROUND_MOST;
}

/* Returns the first lane with a ready connection, cyclically from `next`. */
static unsigned next_lane(const struct lanes *lanes)
{
    uint64_t behind = lanes->ready & ~((UINT64_C(1) << lanes->next) - 1);

    return (unsigned)__builtin_ctzll(behind ? behind : lanes->ready);
}

struct connection *lanes_take(struct lanes *lanes)
{
    struct connection *connection;
    struct lane *lane;
    unsigned number;

    if (lanes->left == 0)
        return NULL;
    assert(lanes->ready && lanes->left <= lanes->count);
    number = next_lane(lanes);
    lane = &lanes->of[number];
    connection = lane->first;
    lane->first = connection->next_ready;
    if (!lane->first) {
        lane->last = NULL;
        lanes->ready &= ~(UINT64_C(1) << number);
    }
    lanes->recent |= UINT64_C(1) << number;
    lanes->next = (number + 1) % LANES;
    lanes->left--;
    lanes->count--;
    return connection;
}

bool lanes_is_last(const struct lanes *lanes)
{
    return lanes->left == 0;
}
