/* Decisions that wait for others: for a client that is to give up what it caches of a file, say. They wait
 * without a thread, until somebody has committed what may let them go on, or their time is over, and
 * are decided again then.
 *
 *     turn = waiting_turn()            before the attempt
 *     DECIDE_WAITS                     commit what it asks of the others, if anything, close its parts
 *     waiting_begin(turn, until, w)    WAITING_OVER: something has happened meanwhile: decide again
 *
 * All that wait are woken by whatever happens, and look for themselves: few wait at any time, and a look
 * is an attempt. What another server commits wakes nobody here. Any thread. */
#ifndef LAGRA_SERVICE_WAITING_H
#define LAGRA_SERVICE_WAITING_H

#include <stdbool.h>

#include "base/clock.h"
#include "base/waiter.h"

enum waiting {
    WAITING_KEPT, /* the waiter will be woken */
    WAITING_OVER, /* it is not kept: the turn is over already */
    WAITING_ENDS, /* nor here: the server stops, and nothing is to be waited for */
};

/* A number that is another one after waiting_over(). */
uint64_t waiting_turn(void);
/* Keeps the waiter until waiting_over(), or until the instant has come. */
enum waiting waiting_begin(uint64_t turn, instant until, struct waiter *waiter);
/* The waiter does not wait any longer. False: it has been woken, or is being woken, and wake() is called all
 * the same. */
bool waiting_leave(struct waiter *waiter);
/* Something was committed that others may wait for: wakes them all. */
void waiting_over(void);
/* Keeps the waiter until the instant has come, whatever happens meanwhile: for those who are held up. False: it is
 * not kept, since the server stops. */
bool waiting_hold(instant until, struct waiter *waiter);
/* How many wait for others. */
unsigned waiting_count(void);

/* Starts the thread that wakes those whose time is over; without it they wait for waiting_over() alone.
 * False: it cannot be started. Start-up. */
bool waiting_start(void);
/* Ends the thread, and wakes all, those who are held up too: who waits then is woken at once. */
void waiting_stop(void);
/* The clock was set: looks at it. Tests only. */
void waiting_look(void);

#endif
