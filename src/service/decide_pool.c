/* A queue of jobs and the threads that take from it: see decide_pool.h. */
#include "service/decide_pool.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/lock.h"
#include "base/thread.h"

#define THREADS_MAX 64

struct decide_pool {
    struct lock lock;
    pthread_cond_t work;    /* a job came, or it is stopping */
    struct pool_job *first; /* under lock; so all that follows */
    struct pool_job **end;
    unsigned queued;
    unsigned idle; /* threads that wait for a job */
    unsigned thread_count;
    unsigned threads_max;
    bool stopping;
    struct thread threads[THREADS_MAX];
};

static void *run_jobs(void *argument)
{
    struct decide_pool *pool = argument;

    thread_give_way();
    lock_take(&pool->lock);
    for (;;) {
        struct pool_job *job = pool->first;

        if (!job && pool->stopping)
            break;
        if (!job) {
            pool->idle++;
            lock_wait(&pool->lock, &pool->work, -1);
            pool->idle--;
            continue;
        }
        pool->first = job->next;
        if (!pool->first)
            pool->end = &pool->first;
        pool->queued--;
        lock_give(&pool->lock);
        job->run(job);
        lock_take(&pool->lock);
    }
    lock_give(&pool->lock);
    return NULL;
}

/* Under the lock. One that cannot be started is not missed while there is another: jobs wait
 * longer. */
static bool start_thread(struct decide_pool *pool)
{
    if (pool->thread_count == pool->threads_max)
        return false;
    if (!thread_start(&pool->threads[pool->thread_count], run_jobs, pool))
        return false;
    pool->thread_count++;
    return true;
}

struct decide_pool *decide_pool_new(unsigned threads_max)
{
    struct decide_pool *pool = xcalloc(1, sizeof *pool);
    bool started;

    assert(threads_max >= 1 && threads_max <= THREADS_MAX);
    lock_init(&pool->lock, RANK_DECIDE_POOL);
    lock_condition_init(&pool->work);
    pool->end = &pool->first;
    pool->threads_max = threads_max;
    lock_take(&pool->lock);
    started = start_thread(pool);
    lock_give(&pool->lock);
    if (started)
        return pool;
    decide_pool_free(pool);
    return NULL;
}

void decide_pool_free(struct decide_pool *pool)
{
    lock_take(&pool->lock);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->work);
    lock_give(&pool->lock);
    for (unsigned i = 0; i < pool->thread_count; i++)
        thread_join(&pool->threads[i]);
    assert(!pool->first);
    pthread_cond_destroy(&pool->work);
    lock_release(&pool->lock);
    free(pool);
}

unsigned decide_pool_waiting(struct decide_pool *pool)
{
    unsigned queued;

    lock_take(&pool->lock);
    queued = pool->queued;
    lock_give(&pool->lock);
    return queued;
}

void decide_pool_submit(struct decide_pool *pool, struct pool_job *job)
{
    lock_take(&pool->lock);
    assert(!pool->stopping);
    job->next = NULL;
    *pool->end = job;
    pool->end = &job->next;
    pool->queued++;
    /* An idle thread counts as idle until it has woken: it may have been woken for an earlier
     * job. */
    if (pool->queued > pool->idle)
        start_thread(pool);
    pthread_cond_signal(&pool->work);
    lock_give(&pool->lock);
}
