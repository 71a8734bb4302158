/* Decisions that wait for other clients, for example until one gives up an oplock. They wait
 * without a thread until a commit may allow them to continue or a timeout expires, and are then
 * decided again.
 *
 *     turn = waiters_turn()             before the attempt
 *     DECIDE_WAITS                      commit the requests to other clients, if any; close the
 *                                       parts
 *     waiters_add(key, turn, until, w)  WAITING_OVER: something has changed already; decide again
 *
 * Each decision waits for one node of a space. Only commits that concern this node, or all nodes of
 * the space (such as the rename of a directory), wake it. They wake all waiters for the node, each
 * of which makes an attempt; a node has few waiters. Commits of other servers do not wake waiters
 * here. Thread-safe. */
#ifndef LAGRA_SERVICE_WAITING_H
#define LAGRA_SERVICE_WAITING_H

#include <stdbool.h>

#include "base/clock.h"
#include "base/ids.h"
#include "base/waiter.h"

/* File or directory to wait for. */
struct waiter_key {
    struct guid space;
    uint64_t node; /* WAITING_ALL_NODES is only for waiters_wake() */
};
#define WAITING_ALL_NODES UINT64_MAX
static inline bool waiter_key_equal(const struct waiter_key *a, const struct waiter_key *b)
{
    return a->node == b->node && guid_equal(&a->space, &b->space);
}

enum waiting {
    WAITING_KEPT, /* the waiter will be woken */
    /* not registered: a commit has woken this key since waiters_turn(), so decide again at once */
    WAITING_OVER,
    WAITING_ENDS, /* not registered: the server is stopping, so do not wait */
};

/* Returns a number that waiters_wake() increases. Call it before the attempt. */
uint64_t waiters_turn(void);
/* Registers the waiter until waiters_wake() of the key, or until the instant. */
enum waiting waiters_add(const struct waiter_key *key, uint64_t turn, instant until,
                         struct waiter *waiter);
/* Ends the wait of waiters_add() or waiters_delay(). Returns false if the waiter has been woken or
 * is being woken; its wake() is then still called. */
bool waiters_remove(struct waiter *waiter);
/* Wakes the waiters for the key, or for any node of its space. Called after a commit that concerns
 * them. */
void waiters_wake(const struct waiter_key *key);
/* Delays a request: registers the waiter until the instant, regardless of commits. Returns false if
 * the server is stopping; the waiter is then not registered. */
bool waiters_delay(instant until, struct waiter *waiter);
/* Returns the number of waiters, excluding those of waiters_delay(). */
unsigned waiters_count(void);

/* Starts the thread that wakes expired waiters. Without it, waiters wait only for waiters_wake().
 * Returns false if it cannot be started. Called at start-up. */
bool waiters_start(void);
/* Stops the thread and wakes all waiters, including those of waiters_delay(). Later waits end at
 * once. */
void waiters_stop(void);
/* Reads the clock again after it was set. Only for tests. */
void waiters_refresh(void);

#endif
