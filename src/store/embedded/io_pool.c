/* A queue of jobs, a few threads, and bounded buffers. */
#include "store/embedded/io_pool.h"

#include <assert.h>
#include <stdlib.h>

/* Caller holds the lock. */
static void assert_pool(const struct io_pool *pool)
{
    lock_assert_held(&pool->lock);
    assert(pool->queued_count <= IO_QUEUED_MAX);
    assert(pool->filling_bytes <= IO_FILLING_MAX);
    assert(pool->unused_count <= IO_UNUSED_MAX && !pool->unused == (pool->unused_count == 0));
    assert(!*pool->waiters_end && !pool->waiters == (pool->waiters_end == &pool->waiters));
}

static void *run_jobs(void *argument)
{
    struct io_pool *pool = argument;

    lock_acquire(&pool->lock);
    for (;;) {
        struct io_job *job = pool->first;

        if (!job && pool->stopping)
            break;
        if (!job) {
            lock_wait(&pool->lock, &pool->work, -1);
            continue;
        }
        pool->first = job->next;
        lock_release(&pool->lock);
        job->run(job);
        lock_acquire(&pool->lock);
    }
    lock_release(&pool->lock);
    return NULL;
}

bool io_pool_start(struct io_pool *pool)
{
    bool started = true;

    *pool = (struct io_pool){ .waiters_end = &pool->waiters };
    lock_init(&pool->lock, RANK_IO_POOL);
    lock_condition_init(&pool->work);
    lock_condition_init(&pool->woken);
    for (int i = 0; i < IO_THREADS; i++)
        started = thread_start(&pool->threads[i], run_jobs, pool) && started;
    return started;
}

void io_pool_stop(struct io_pool *pool)
{
    lock_acquire(&pool->lock);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->work);
    lock_release(&pool->lock);
    for (int i = 0; i < IO_THREADS; i++)
        thread_join(&pool->threads[i]);
    assert(!pool->first);
}

void io_pool_release(struct io_pool *pool)
{
    assert(!pool->waiters && pool->queued_count == 0 && pool->filling_bytes == 0);
    while (pool->unused) {
        struct io_buffer *buffer = pool->unused;

        pool->unused = buffer->next;
        free(buffer);
    }
    pthread_cond_destroy(&pool->work);
    pthread_cond_destroy(&pool->woken);
    lock_destroy(&pool->lock);
}

void io_pool_add_locked(struct io_pool *pool, struct io_job *job)
{
    lock_assert_held(&pool->lock);
    assert(job->run);
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
    lock_acquire(&pool->lock);
    io_pool_add_locked(pool, job);
    lock_release(&pool->lock);
}

/* The sizes of buffers: small for data that arrives slowly, while large parts are not copied
 * twice. */
static uint32_t size_for(size_t wanted)
{
    if (wanted <= IO_SMALL_BYTES)
        return IO_SMALL_BYTES;
    return wanted < 4 * IO_SMALL_BYTES ? 4 * IO_SMALL_BYTES : PIECE_SECTOR_BYTES;
}

/* Caller holds the lock. */
static void wait_for_queue(struct io_pool *pool, struct waiter *waiter)
{
    waiter->next = NULL;
    *pool->waiters_end = waiter;
    pool->waiters_end = &waiter->next;
    assert_pool(pool);
}

/* Charges a buffer that will be filled. Caller holds the lock. */
static bool charge_filling(struct io_pool *pool, uint32_t size)
{
    if (pool->filling_bytes + size > IO_FILLING_MAX)
        return false;
    pool->filling_bytes += size;
    return true;
}

/* Returns an unused buffer of the largest size, or NULL. Caller holds the lock. */
static struct io_buffer *take_unused(struct io_pool *pool, uint32_t size)
{
    struct io_buffer *buffer = size == PIECE_SECTOR_BYTES ? pool->unused : NULL;

    if (buffer) {
        pool->unused = buffer->next;
        pool->unused_count--;
    }
    return buffer;
}

static struct io_buffer *begin_buffer(struct io_buffer *unused, uint32_t size,
                                      enum io_account account)
{
    struct io_buffer *buffer = unused ? unused : xmalloc(sizeof *buffer + size);

    buffer->size = size;
    buffer->account = account;
    buffer->length = 0;
    return buffer;
}

struct io_buffer *io_buffer_take(struct io_pool *pool, size_t wanted, struct waiter *waiter)
{
    uint32_t size = size_for(wanted);
    enum io_account account = IO_SMALL;
    struct io_buffer *unused;

    if (size == IO_SMALL_BYTES)
        return begin_buffer(NULL, size, account);
    lock_acquire(&pool->lock);
    if (charge_filling(pool, size)) {
        account = IO_FILLING;
    } else if (pool->queued_count < IO_QUEUED_MAX) {
        pool->queued_count++;
        account = IO_QUEUED;
    } else {
        wait_for_queue(pool, waiter);
        lock_release(&pool->lock);
        return NULL;
    }
    unused = take_unused(pool, size);
    assert_pool(pool);
    lock_release(&pool->lock);
    return begin_buffer(unused, size, account);
}

struct io_buffer *io_buffer_grow(struct io_pool *pool, struct io_buffer *buffer)
{
    uint32_t size = size_for((size_t)buffer->size + 1);
    struct io_buffer *unused, *larger;
    bool granted;

    if (buffer->size == PIECE_SECTOR_BYTES || buffer->account == IO_QUEUED)
        return NULL;
    lock_acquire(&pool->lock);
    granted = charge_filling(pool, size);
    unused = granted ? take_unused(pool, size) : NULL;
    if (granted && buffer->account == IO_FILLING)
        pool->filling_bytes -= buffer->size;
    assert_pool(pool);
    lock_release(&pool->lock);
    if (!granted)
        return NULL;
    larger = begin_buffer(unused, size, IO_FILLING);
    larger->piece = buffer->piece;
    larger->offset = buffer->offset;
    larger->length = buffer->length;
    assert(larger->length < larger->size);
    memcpy(larger->bytes, buffer->bytes, buffer->length);
    free(buffer);
    return larger;
}

bool io_buffer_charge_locked(struct io_pool *pool, struct io_buffer *buffer, struct waiter *waiter)
{
    if (buffer->account == IO_QUEUED)
        return true;
    if (pool->queued_count >= IO_QUEUED_MAX) {
        if (waiter)
            wait_for_queue(pool, waiter);
        return false;
    }
    pool->queued_count++;
    if (buffer->account == IO_FILLING)
        pool->filling_bytes -= buffer->size;
    buffer->account = IO_QUEUED;
    assert_pool(pool);
    return true;
}

/* Returns as many waiters as may queue a buffer now. Caller holds the lock. */
static struct waiter *take_waiters(struct io_pool *pool)
{
    struct waiter *first = pool->waiters;
    struct waiter **link = &pool->waiters;

    for (size_t i = pool->queued_count; i < IO_QUEUED_MAX && *link; i++)
        link = &(*link)->next;
    if (link == &pool->waiters)
        return NULL;
    pool->waiters = *link;
    *link = NULL;
    if (!pool->waiters)
        pool->waiters_end = &pool->waiters;
    return first;
}

/* Ends the charge. Adds the buffer to the unused ones, or returns false. Caller holds the lock. */
static bool take_back(struct io_pool *pool, struct io_buffer *buffer)
{
    if (buffer->account == IO_QUEUED)
        pool->queued_count--;
    else if (buffer->account == IO_FILLING)
        pool->filling_bytes -= buffer->size;
    if (buffer->size != PIECE_SECTOR_BYTES || pool->unused_count == IO_UNUSED_MAX)
        return false;
    buffer->next = pool->unused;
    pool->unused = buffer;
    pool->unused_count++;
    return true;
}

void io_buffers_give(struct io_pool *pool, struct io_buffer *list)
{
    struct io_buffer *surplus = NULL;
    struct waiter *woken = NULL;

    lock_acquire(&pool->lock);
    while (list) {
        struct io_buffer *buffer = list;

        list = buffer->next;
        if (!take_back(pool, buffer)) {
            buffer->next = surplus;
            surplus = buffer;
        }
    }
    if (pool->waiters)
        woken = take_waiters(pool);
    assert_pool(pool);
    lock_release(&pool->lock);
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

    lock_acquire(&pool->lock);
    while (*link && *link != waiter)
        link = &(*link)->next;
    if (*link) {
        *link = waiter->next;
        if (!*link)
            pool->waiters_end = link;
    }
    assert_pool(pool);
    lock_release(&pool->lock);
}
