/* A waiter for an owner that waits without a thread. It may be woken before the owner is suspended;
 * its state ensures that each suspend is followed by exactly one resume. */
#ifndef LAGRA_BASE_PAUSE_H
#define LAGRA_BASE_PAUSE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/waiter.h"

enum pause_state { PAUSE_IDLE, PAUSE_SUSPENDED, PAUSE_WOKEN };

struct pause {
    struct waiter waiter; /* first */
    atomic_int state;
};

/* wake: must call pause_end() */
static inline void pause_init(struct pause *pause, void (*wake)(struct waiter *waiter))
{
    pause->waiter = (struct waiter){ .wake = wake };
    atomic_init(&pause->state, PAUSE_IDLE);
}
/* Returns the waiter to pass to a function that may return STORE_WAIT. */
static inline struct waiter *pause_arm(struct pause *pause)
{
    atomic_store(&pause->state, PAUSE_IDLE);
    return &pause->waiter;
}
/* Wakes the owner. */
static inline void pause_wake(struct pause *pause)
{
    pause->waiter.wake(&pause->waiter);
}
/* Starts the wait of a suspended owner. Returns true if it has been woken since pause_arm(); the
 * owner must then resume itself. */
static inline bool pause_begin(struct pause *pause)
{
    return atomic_exchange(&pause->state, PAUSE_SUSPENDED) == PAUSE_WOKEN;
}
/* Ends the wait; called by wake(). Returns true if the owner is suspended; the caller must then
 * resume it. The owner may free the pause as soon as this has returned. */
static inline bool pause_end(struct pause *pause)
{
    return atomic_exchange(&pause->state, PAUSE_WOKEN) == PAUSE_SUSPENDED;
}

#endif
