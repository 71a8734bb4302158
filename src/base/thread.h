/* Threads that a room runs for itself. */
#ifndef LAGRA_BASE_THREAD_H
#define LAGRA_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

struct thread {
    pthread_t thread;
    bool running;
};

/* Starts a thread. False, with a line in the log, when the system cannot start one. */
bool thread_start(struct thread *thread, void *(*run)(void *argument), void *argument);
/* Waits for its end; returns at once when it was never started. */
void thread_join(struct thread *thread);
/* The calling thread gives way to those that serve clients: it has what they leave, and a tenth of
 * a core that they would take whole, so that whoever waits for it gets on. */
void thread_give_way(void);

#endif
