/* Waiting without a thread: see struct pause. */
#include "service/service_private.h"

#include <assert.h>

enum { PAUSE_IDLE, PAUSE_SUSPENDED, PAUSE_WOKEN };

static void pause_wake(struct waiter *waiter)
{
    struct pause *pause = (struct pause *)waiter;
    struct exchange *exchange = pause->exchange;

    /* Once it says WOKEN, the worker may go on and end the exchange: touch nothing after. */
    if (atomic_exchange(&pause->state, PAUSE_WOKEN) == PAUSE_SUSPENDED)
        exchange_resume(exchange);
}

void pause_init(struct pause *pause, struct exchange *exchange)
{
    pause->waiter = (struct waiter){ .wake = pause_wake };
    pause->exchange = exchange;
    atomic_init(&pause->state, PAUSE_IDLE);
}

struct waiter *pause_arm(struct pause *pause)
{
    atomic_store(&pause->state, PAUSE_IDLE);
    return &pause->waiter;
}

void pause_wait(struct pause *pause)
{
    exchange_suspend(pause->exchange);
    if (atomic_exchange(&pause->state, PAUSE_SUSPENDED) == PAUSE_WOKEN)
        exchange_resume(pause->exchange);
}
