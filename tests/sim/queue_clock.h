/* The time that messages become visible and expire by, beside true time: what a client waits for
 * comes by the time that passed, whatever the wall clock is set to, also over a crash. decision:
 * 185
 *
 * The server tells its time at each decision (queue_seen.h). It may go a sixteenth slower or faster
 * than true time (decision 42), and after a start it may have lost some. It may have gained some at
 * a start only if the wall clock was set and no commit that is left could know of it, and by up to
 * two minutes if it was set at all. */
#ifndef LAGRA_SIM_QUEUE_CLOCK_H
#define LAGRA_SIM_QUEUE_CLOCK_H

#include <stdint.h>

void queue_clock_begin(void);
/* A server has opened the store. known: how often the wall clock had been set as the newest commit
 * that is left was decided. */
void queue_clock_start(uint64_t known);
/* The time of a decision between two moments. NULL, or what is wrong. */
const char *queue_clock_check(unsigned cell, uint64_t instant, uint64_t from_ns, uint64_t to_ns);
/* How often the wall clock was set that whoever decides from now on knows of. */
uint64_t queue_clock_known(void);
/* Notes that the clock of the calling process's cell has followed that of another cell. */
void queue_clock_follow(int64_t ticks);
/* Notes that a queue was moved to a cell whose clock may differ. */
void queue_clock_moved(void);
/* Rises at each start whose server may have gained time. */
uint64_t queue_clock_doubts(void);

#endif
