/* See sleeper.h. */
#include "base/sleeper.h"

static void wake(struct waiter *waiter)
{
    struct sleeper *sleeper = (struct sleeper *)(void *)waiter;

    lock_acquire(&sleeper->lock);
    sleeper->is_woken = true;
    pthread_cond_signal(&sleeper->woken);
    lock_release(&sleeper->lock);
}

void sleeper_init(struct sleeper *sleeper)
{
    *sleeper = (struct sleeper){ .waiter = { .wake = wake } };
    lock_init(&sleeper->lock, RANK_SLEEPER);
    lock_condition_init(&sleeper->woken);
}

struct waiter *sleeper_arm(struct sleeper *sleeper)
{
    lock_acquire(&sleeper->lock);
    sleeper->is_woken = false;
    lock_release(&sleeper->lock);
    return &sleeper->waiter;
}

void sleeper_wait(struct sleeper *sleeper)
{
    lock_acquire(&sleeper->lock);
    while (!sleeper->is_woken)
        lock_wait(&sleeper->lock, &sleeper->woken, -1);
    lock_release(&sleeper->lock);
}

void sleeper_release(struct sleeper *sleeper)
{
    /* The thread that woke this one may still hold the lock. */
    lock_acquire(&sleeper->lock);
    lock_release(&sleeper->lock);
    pthread_cond_destroy(&sleeper->woken);
    lock_destroy(&sleeper->lock);
}
