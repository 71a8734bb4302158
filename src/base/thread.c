/* Starting and joining threads. */
#include "base/thread.h"

#include <assert.h>
#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"

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

#define GIVES_WAY 10 /* steps of niceness: about a tenth of the weight of the others */

void thread_give_way(void)
{
    /* Linux keeps a niceness for each thread; the process has that of its first, with which an
     * operator may have started it. Where it is refused, all goes on as before. */
    int own = getpriority(PRIO_PROCESS, (id_t)getpid());

    if (setpriority(PRIO_PROCESS, (id_t)gettid(), own + GIVES_WAY) != 0)
        log_errno("lower the priority of a thread");
}

void thread_join(struct thread *thread)
{
    int error = 0;

    if (thread->running)
        error = pthread_join(thread->thread, NULL);
    assert(!error);
    thread->running = false;
}
