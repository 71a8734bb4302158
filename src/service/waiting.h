/* Decisions that wait for other clients, for example for one that must give up an oplock. They wait without a thread,
 * until a commit may allow them to continue or their time has expired, and are then decided again.
 *
 *     turn = waiting_turn()                 before the attempt
 *     DECIDE_WAITS                          commit what it asks of the others, if anything, close its parts
 *     waiting_begin(key, turn, until, w)    WAITING_OVER: something has happened meanwhile: decide again
 *
 * Each waits for one node of a space, and only commits that concern this node wake it, or all nodes of the space, as the
 * rename of a directory does. They wake all waiters for the node, each of which makes an attempt; a node has few waiters. Commits of other servers wake no waiter here. Thread-safe. */
#ifndef LAGRA_SERVICE_WAITING_H
#define LAGRA_SERVICE_WAITING_H

#include <stdbool.h>

#include "base/clock.h"
#include "base/ids.h"
#include "base/waiter.h"

/* The file or directory that is waited for. */
struct waiting_key {
    struct guid space;
    uint64_t node; /* waiting_over() only: WAITING_ALL_NODES */
};
#define WAITING_ALL_NODES UINT64_MAX
static inline bool waiting_key_equal(const struct waiting_key *a, const struct waiting_key *b)
{
    return a->node == b->node && guid_equal(&a->space, &b->space);
}

enum waiting {
    WAITING_KEPT, /* the waiter will be woken */
    WAITING_OVER, /* it is not kept: the turn is over already */
    WAITING_ENDS, /* nor here: the server stops, and nothing is to be waited for */
};

/* Returns a number that waiting_over() increases. */
uint64_t waiting_turn(void);
/* Keeps the waiter until waiting_over() of the key, or until the instant has come. */
enum waiting waiting_begin(const struct waiting_key *key, uint64_t turn, instant until,
                           struct waiter *waiter);
/* Ends the wait of waiting_begin() or waiting_hold(). Returns false if the waiter has been woken, or is being woken; wake() is
 * called then nevertheless. */
bool waiting_leave(struct waiter *waiter);
/* Wakes the waiters for the key, or for any node of its space, after a commit that concerns them. */
void waiting_over(const struct waiting_key *key);
/* Keeps the waiter until the instant has come, whatever happens meanwhile: for those who are held up. False: it is
 * not kept, since the server stops. */
bool waiting_hold(instant until, struct waiter *waiter);
/* Returns the number of waiters, without those of waiting_hold(). */
unsigned waiting_count(void);

/* Starts the thread that wakes those whose time is over; without it they wait for waiting_over() alone.
 * False: it cannot be started. Start-up. */
bool waiting_start(void);
/* Ends the thread, and wakes all, those who are held up too: who waits then is woken at once. */
void waiting_stop(void);
/* The clock was set: looks at it. Tests only. */
void waiting_look(void);

#endif
