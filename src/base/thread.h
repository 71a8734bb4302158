/* Threads that a room runs for itself. */
#ifndef LAGRA_BASE_THREAD_H
#define LAGRA_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct thread {
    pthread_t thread;
    bool running;
};

/* Starts a thread. False, with a line in the log, when the system cannot start one. */
bool thread_start(struct thread *thread, void *(*run)(void *argument), void *argument);
/* Waits for its end; returns at once when it was never started. */
void thread_join(struct thread *thread);
/* Has the calling thread wait for so long; signals do not end it early. */
void thread_sleep_ns(uint64_t ns);
/* Lets the calling thread yield to those that serve clients: it preempts none of them when it wakes.
 * Its share of a core stays that of the others, since it takes locks that they wait for. decision: 280 */
void thread_give_way(void);
/* Whether the calling thread has no smaller share of a core than the process's first one. */
bool thread_has_full_share(void);

#endif
