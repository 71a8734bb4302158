/* Starts, joins and yields threads. */
#ifndef LAGRA_BASE_THREAD_H
#define LAGRA_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct thread {
    pthread_t thread;
    bool running;
};

/* Starts a thread. Logs an error and returns false if that fails. */
bool thread_start(struct thread *thread, void *(*run)(void *argument), void *argument);
/* Waits for the thread to end; returns at once if it was never started. */
void thread_join(struct thread *thread);
/* Sleeps for `ns`; signals do not end the sleep early. */
void thread_sleep_ns(uint64_t ns);
/* Makes the calling thread yield to threads that serve clients: it does not preempt them when it
 * wakes. Its share of a core remains unchanged, because those threads wait for locks that it
 * acquires. decision: 280 */
void thread_give_way(void);
/* Returns true unless the calling thread has a smaller share of a core than the process's first
 * thread. */
bool thread_has_full_share(void);

#endif
