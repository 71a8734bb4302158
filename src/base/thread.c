/* Starts and joins threads. */
#include "base/thread.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

#define NS_PER_SECOND 1000000000u

bool thread_start(struct thread *thread, void *(*run)(void *argument), void *argument)
{
    int error = pthread_create(&thread->thread, NULL, run, argument);

    thread->running = !error;
    if (!error)
        return true;
    errno = error;
    log_errno("start a thread");
    return false;
}

void thread_sleep_ns(uint64_t ns)
{
    struct timespec left = { .tv_sec = (time_t)(ns / NS_PER_SECOND),
                             .tv_nsec = (long)(ns % NS_PER_SECOND) };

    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

void thread_give_way(void)
{
    const struct sched_param none = { .sched_priority = 0 };

    /* If this fails, the thread's priority is unchanged. */
    if (sched_setscheduler(0, SCHED_BATCH, &none) != 0)
        log_errno("lower a thread's priority");
}

bool thread_has_full_share(void)
{
    /* Linux has a niceness per thread; that of the process is its first thread's, which an
     * operator may have set. */
    return getpriority(PRIO_PROCESS, 0) <= getpriority(PRIO_PROCESS, (id_t)getpid()) &&
           sched_getscheduler(0) != SCHED_IDLE;
}

void thread_join(struct thread *thread)
{
    int error = 0;

    if (thread->running)
        error = pthread_join(thread->thread, NULL);
    assert(!error);
    thread->running = false;
}
