/* A waiter for a thread that may block: the thread sleeps until it is woken. Stored on the thread's
 * stack or in an object that the thread owns. */
#ifndef LAGRA_BASE_SLEEPER_H
#define LAGRA_BASE_SLEEPER_H

#include "base/lock.h"
#include "base/waiter.h"

struct sleeper {
    struct waiter waiter; /* must be first */
    struct lock lock;
    pthread_cond_t woken;
    bool is_woken; /* under lock */
};

void sleeper_init(struct sleeper *sleeper);
/* Returns the waiter to pass to a function that may return STORE_WAIT. Must not be armed
 * already. */
struct waiter *sleeper_arm(struct sleeper *sleeper);
/* Waits until the armed waiter has been woken. */
void sleeper_wait(struct sleeper *sleeper);
/* Must not be armed. */
void sleeper_release(struct sleeper *sleeper);

#endif
