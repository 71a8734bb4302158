/* The scheduler: every thread of the simulated process is real, but only the one that has the baton
 * runs. Who gets it next is drawn from the seed. Time is virtual: it goes on a little at each
 * point, and jumps when nobody can run.
 *
 * Limits: the run is sequentially consistent, and a thread is switched only at points (locks,
 * waits, clocks, files), so weak memory and lock-free code remain the sanitizers' part. Threads
 * that end keep their stack until the process ends. */
#ifndef LAGRA_SIM_SCHED_H
#define LAGRA_SIM_SCHED_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wait {
    WAIT_NONE, /* can run */
    WAIT_MUTEX,
    WAIT_CONDITION,
    WAIT_RWLOCK,
    WAIT_ONCE,
    WAIT_SLEEP,
    WAIT_JOIN,
    WAIT_EVENT, /* of the harness */
    WAIT_NEVER, /* has ended */
};

/* From here on the calls of this process are simulated; the caller is thread 0. */
void sched_begin(void);
bool sched_is_on(void);
/* The calling thread's number. */
unsigned sched_self(void);
unsigned sched_threads(void);
void sched_name(const char *name);

/* Here another thread may go on. */
void sched_point(void);
/* Another thread goes on, if one can. */
void sched_yield_now(void);
/* Waits until it is woken or, if deadline_ns is not 0, until then.
 *
 * returns  false when the deadline came first */
bool sched_wait(enum wait wait, const void *object, uint64_t deadline_ns);
/* Wakes at most `count` of those who wait for the object, drawn. */
void sched_wake(enum wait wait, const void *object, unsigned count);
void sched_sleep(uint64_t ns);
/* Between these two calls the thread keeps the baton unless it has to wait. */
void sched_hold(void);
void sched_release(void);
bool sched_is_held(void);
/* Who ran last, the newest first, and since when: of a run that goes in circles. */
void sched_show_last(char *to, size_t size);
/* The function of that name that comes behind ours. */
void *sched_real(const char *name);
/* The calling thread never runs again. */
void sched_stop(void);

/* ---- processes of front ends (fleet.h), beside that of the clients, which forks them ---- */

/* A thread for the process of a front end that is about to be forked. Returns its number, with which the
 * child enters. */
unsigned sched_add_process(unsigned front);
/* In the child. Waits for the baton. */
void sched_enter_process(unsigned thread);
/* None of its threads runs before that time; in every second pause, some resume up to 3 s later. */
void sched_pause_process(unsigned front, uint64_t until_ns);
/* Has one of its threads called sched_hold()? */
bool sched_is_inside(unsigned front);
/* Forgets the threads of a process, which is killed next. */
void sched_end_process(unsigned front);
/* The calling process exits. */
_Noreturn void sched_leave_process(int status);

#endif
