/* A queue of jobs, a few threads, and a bounded number of buffers. */
#include "store/embedded/io_pool.h"

#include <assert.h>
#include <stdlib.h>

static void *run_jobs(void *argument)
{
    struct io_pool *pool = argument;

    lock_take(&pool->lock);
    for (;;) {
        struct io_job *job = pool->first;

        if (!job && pool->stopping)
            break;
        if (!job) {
            lock_wait(&pool->lock, &pool->work, -1);
            continue;
        }
        pool->first = job->next;
        lock_give(&pool->lock);
        job->run(job);
        lock_take(&pool->lock);
    }
    lock_give(&pool->lock);
    return NULL;
}

void io_pool_start(struct io_pool *pool)
{
    *pool = (struct io_pool){ .waiters_end = &pool->waiters };
    lock_init(&pool->lock, RANK_IO_POOL);
    lock_condition_init(&pool->work);
    lock_condition_init(&pool->woken);
    for (int i = 0; i < IO_THREADS; i++) {
        int error = pthread_create(&pool->threads[i], NULL, run_jobs, pool);

        assert(!error);
    }
}

void io_pool_stop(struct io_pool *pool)
{
    lock_take(&pool->lock);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->work);
    lock_give(&pool->lock);
    for (int i = 0; i < IO_THREADS; i++)
        pthread_join(pool->threads[i], NULL);
}

void io_pool_release(struct io_pool *pool)
{
    assert(!pool->waiters && pool->buffer_count == pool->unused_count);
    while (pool->unused) {
        struct io_buffer *buffer = pool->unused;

        pool->unused = buffer->next;
        free(buffer);
    }
    pthread_cond_destroy(&pool->work);
    pthread_cond_destroy(&pool->woken);
    lock_release(&pool->lock);
}

void io_pool_add_locked(struct io_pool *pool, struct io_job *job)
{
    job->next = NULL;
    if (pool->first)
        pool->last->next = job;
    else
        pool->first = job;
    pool->last = job;
    pthread_cond_signal(&pool->work);
}

void io_pool_add(struct io_pool *pool, struct io_job *job)
{
    lock_take(&pool->lock);
    io_pool_add_locked(pool, job);
    lock_give(&pool->lock);
}

struct io_buffer *io_buffer_take(struct io_pool *pool, struct waiter *waiter)
{
    struct io_buffer *buffer;
    bool may_make = false;

    lock_take(&pool->lock);
    buffer = pool->unused;
    if (buffer) {
        pool->unused = buffer->next;
        pool->unused_count--;
    } else if (pool->buffer_count < IO_BUFFERS_MAX) {
        pool->buffer_count++;
        may_make = true;
    } else {
        waiter->next = NULL;
        *pool->waiters_end = waiter;
        pool->waiters_end = &waiter->next;
    }
    lock_give(&pool->lock);
    return may_make ? xmalloc(sizeof *buffer) : buffer;
}

/* As many as there are unused buffers. Under lock. */
static struct waiter *take_waiters(struct io_pool *pool)
{
    struct waiter *first = pool->waiters;
    struct waiter **link = &pool->waiters;

    for (size_t i = 0; i < pool->unused_count && *link; i++)
        link = &(*link)->next;
    pool->waiters = *link;
    *link = NULL;
    if (!pool->waiters)
        pool->waiters_end = &pool->waiters;
    return link == &pool->waiters ? NULL : first;
}

void io_buffers_give(struct io_pool *pool, struct io_buffer *list)
{
    struct io_buffer *surplus = NULL;
    struct waiter *woken = NULL;

    lock_take(&pool->lock);
    while (list) {
        struct io_buffer *buffer = list;

        list = buffer->next;
        if (pool->unused_count < IO_BUFFERS_KEPT) {
            buffer->next = pool->unused;
            pool->unused = buffer;
            pool->unused_count++;
        } else {
            buffer->next = surplus;
            surplus = buffer;
            pool->buffer_count--;
        }
    }
    if (pool->waiters)
        woken = take_waiters(pool);
    lock_give(&pool->lock);
    while (surplus) {
        struct io_buffer *next = surplus->next;

        free(surplus);
        surplus = next;
    }
    while (woken) {
        struct waiter *next = woken->next;

        woken->wake(woken);
        woken = next;
    }
}

void io_buffer_forget(struct io_pool *pool, struct waiter *waiter)
{
    struct waiter **link = &pool->waiters;

    lock_take(&pool->lock);
    while (*link && *link != waiter)
        link = &(*link)->next;
    if (*link) {
        *link = waiter->next;
        if (!*link)
            pool->waiters_end = link;
    }
    lock_give(&pool->lock);
}
