/* A waiter for a thread that may block: it sleeps until it is woken. Lies on the thread's stack, or
 * in what it owns. */
#ifndef LAGRA_BASE_SLEEPER_H
#define LAGRA_BASE_SLEEPER_H

#include "base/lock.h"
#include "base/waiter.h"

struct sleeper {
    struct waiter waiter; /* first */
    struct lock lock;
    pthread_cond_t woken;
    bool is_woken; /* under lock */
};

void sleeper_init(struct sleeper *sleeper);
/* The waiter to pass to what may return STORE_WAIT; not while it is armed. */
struct waiter *sleeper_arm(struct sleeper *sleeper);
/* Returns once the armed waiter has been woken. */
void sleeper_wait(struct sleeper *sleeper);
/* Not while it is armed. */
void sleeper_release(struct sleeper *sleeper);

#endif
