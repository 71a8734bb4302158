/* Starting and joining threads. */
#include "base/thread.h"

#include <assert.h>
#include <errno.h>

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

void thread_join(struct thread *thread)
{
    int error = 0;

    if (thread->running)
        error = pthread_join(thread->thread, NULL);
    assert(!error);
    thread->running = false;
}
