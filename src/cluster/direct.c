/* The threads of direct reads, and the windows between them and the workers: see direct.h. */
#include "cluster/direct.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "cluster/direct_private.h"

#define WINDOWS  2u
#define CLOSE_MS 1000 /* interval at which unused files are closed */

/* ---- the queue, under the lock ---- */

static void queue(struct direct_read *read)
{
    struct direct *direct = read->direct;

    lock_assert_held(&direct->lock);
    if (read->is_queued || read->has_failed || read->has_ended || read->left == 0 ||
        read->count == WINDOWS)
        return;
    read->is_queued = true;
    read->next = NULL;
    *direct->end = read;
    direct->end = &read->next;
    if (direct->busy == 0)
        direct->stepped_ms = clock_monotonic_ms();
    pthread_cond_signal(&direct->work);
}

static struct direct_read *dequeue(struct direct *direct)
{
    struct direct_read *read = direct->first;

    lock_assert_held(&direct->lock);
    if (!read)
        return NULL;
    direct->first = read->next;
    if (!direct->first)
        direct->end = &direct->first;
    return read;
}

static void free_read(struct direct_read *read)
{
    struct direct *direct = read->direct;

    lock_acquire(&direct->lock);
    assert(direct->reads > 0);
    direct->reads--;
    lock_release(&direct->lock);
    for (unsigned i = 0; i < WINDOWS; i++)
        free(read->windows[i].bytes);
    free(read);
}

/* ---- the threads ---- */

/* Fills the next empty window of a read that was taken from the queue. */
static void step(struct direct_read *read)
{
    struct direct *direct = read->direct;
    struct window_of_read *window;
    struct waiter *waiter;
    bool is_filled = false, has_ended;

    lock_acquire(&direct->lock);
    has_ended = read->has_ended;
    window = &read->windows[(read->first + read->count) % WINDOWS];
    lock_release(&direct->lock);
    if (!has_ended) {
        if (!window->bytes)
            window->bytes = xmalloc(DIRECT_WINDOW_BYTES);
        window->from = window->to = 0;
        is_filled = direct_fill(read, window);
    }
    lock_acquire(&direct->lock);
    read->is_queued = false;
    read->count += is_filled ? 1 : 0;
    read->has_failed |= !is_filled;
    has_ended = read->has_ended;
    waiter = read->waiter;
    read->waiter = NULL;
    queue(read);
    lock_release(&direct->lock);
    if (has_ended)
        free_read(read);
    else if (waiter)
        waiter->wake(waiter);
}

static void *run(void *argument)
{
    struct direct *direct = argument;

    lock_acquire(&direct->lock);
    while (!direct->stopping) {
        struct direct_read *read = dequeue(direct);

        direct->busy += read ? 1 : 0;
        if (!read && lock_wait(&direct->lock, &direct->work, CLOSE_MS))
            continue;
        lock_release(&direct->lock);
        if (read)
            step(read);
        else
            direct_files_close(direct, false);
        lock_acquire(&direct->lock);
        direct->busy -= read ? 1 : 0;
        direct->stepped_ms = clock_monotonic_ms();
    }
    lock_release(&direct->lock);
    return NULL;
}

struct direct *direct_start(const char *cluster)
{
    struct direct *direct = xcalloc(1, sizeof *direct);
    bool is_started = true;

    direct->cluster = cluster;
    direct->end = &direct->first;
    lock_init(&direct->lock, RANK_DIRECT);
    lock_condition_init(&direct->work);
    for (unsigned i = 0; i < DIRECT_THREADS; i++)
        is_started = thread_start(&direct->threads[i], run, direct) && is_started;
    if (is_started)
        return direct;
    direct_stop(direct);
    return NULL;
}

void direct_stop(struct direct *direct)
{
    if (!direct)
        return;
    lock_acquire(&direct->lock);
    direct->stopping = true;
    pthread_cond_broadcast(&direct->work);
    lock_release(&direct->lock);
    for (unsigned i = 0; i < DIRECT_THREADS; i++)
        thread_join(&direct->threads[i]);
    while (direct->first) { /* ended, but still queued */
        struct direct_read *read = direct->first;

        assert(read->has_ended);
        direct->first = read->next;
        free_read(read);
    }
    assert(direct->reads == 0);
    direct_files_close(direct, true);
    pthread_cond_destroy(&direct->work);
    lock_destroy(&direct->lock);
    free(direct);
}

/* ---- reads ---- */

/* Returns true if there are steps to do, and none has been done for some time. */
static bool hangs(const struct direct *direct)
{
    lock_assert_held(&direct->lock);
    return (direct->busy > 0 || direct->first) &&
           clock_monotonic_ms() - direct->stepped_ms > DIRECT_HANG_MS;
}

bool direct_has_room(struct direct *direct)
{
    bool has_room;

    lock_acquire(&direct->lock);
    has_room = direct->reads < DIRECT_READS_MAX && !hangs(direct);
    lock_release(&direct->lock);
    return has_room;
}

struct direct_read *direct_read_start(struct direct *direct, uint32_t cell, struct bytes list,
                                      uint64_t length)
{
    struct direct_read *read = NULL;

    if (!piece_list_is_valid(list, length))
        return NULL;
    lock_acquire(&direct->lock);
    if (direct->reads < DIRECT_READS_MAX) {
        direct->reads++;
        read = xcalloc(1, sizeof *read + list.len);
        *read = (struct direct_read){ .direct = direct, .cell = cell, .left = length };
        memcpy(read->list, list.ptr, list.len);
        piece_list_open(&read->in, bytes_of(read->list, list.len));
        queue(read);
    }
    lock_release(&direct->lock);
    return read;
}

enum direct_state direct_read_next(struct direct_read *read, struct bytes *ret_bytes)
{
    struct direct *direct = read->direct;
    const struct window_of_read *window;
    enum direct_state state;

    lock_acquire(&direct->lock);
    window = &read->windows[read->first];
    state = read->count > 0 ? DIRECT_READY : read->has_failed ? DIRECT_FAILED : DIRECT_WAITS;
    lock_release(&direct->lock);
    if (state == DIRECT_READY)
        *ret_bytes = bytes_of(window->bytes + window->from, window->to - window->from);
    return state;
}

void direct_read_await(struct direct_read *read, struct waiter *waiter)
{
    struct direct *direct = read->direct;
    bool is_due;

    lock_acquire(&direct->lock);
    assert(!read->waiter);
    is_due = read->count > 0 || read->has_failed;
    if (!is_due)
        read->waiter = waiter;
    lock_release(&direct->lock);
    if (is_due)
        waiter->wake(waiter);
}

void direct_read_use(struct direct_read *read, size_t size)
{
    struct direct *direct = read->direct;
    struct window_of_read *window = &read->windows[read->first];

    assert(size <= window->to - window->from);
    window->from += size;
    if (window->from < window->to)
        return;
    lock_acquire(&direct->lock);
    assert(read->count > 0);
    read->count--;
    read->first = (read->first + 1) % WINDOWS;
    queue(read);
    lock_release(&direct->lock);
}

void direct_read_end(struct direct_read *read)
{
    struct direct *direct = read->direct;
    bool is_used;

    lock_acquire(&direct->lock);
    assert(!read->waiter);
    read->has_ended = true;
    is_used = read->is_queued;
    lock_release(&direct->lock);
    if (!is_used)
        free_read(read);
}
