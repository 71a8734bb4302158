/* Ticks of a worker: see connection.h. */
#include "net/net_private.h"

#include <assert.h>

void net_tick_start(struct connection *of, struct net_tick *tick)
{
    struct worker *worker = of->worker;

    if (tick->link)
        return;
    if (!worker->ticks)
        worker->ticked_ms = clock_monotonic_ms();
    tick->next = worker->ticks;
    tick->link = &worker->ticks;
    if (tick->next)
        tick->next->link = &tick->next;
    worker->ticks = tick;
}

void net_tick_stop(struct net_tick *tick)
{
    if (!tick->link)
        return;
    *tick->link = tick->next;
    if (tick->next)
        tick->next->link = tick->link;
    tick->link = NULL;
}

int worker_tick_wait(const struct worker *worker)
{
    uint64_t passed = worker->ticks ? clock_monotonic_ms() - worker->ticked_ms : 0;

    if (!worker->ticks)
        return -1;
    return passed < NET_TICK_MS ? (int)(NET_TICK_MS - passed) : 0;
}

void worker_run_ticks(struct worker *worker)
{
    struct net_tick *tick = worker->ticks;

    if (!tick || worker_tick_wait(worker) > 0)
        return;
    worker->ticked_ms = clock_monotonic_ms();
    while (tick) {
        struct net_tick *next = tick->next; /* a tick stops at most itself */

        tick->run(tick);
        tick = next;
    }
}
