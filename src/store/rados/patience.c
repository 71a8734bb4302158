#include "store/rados/patience.h"

#include <assert.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/thread.h"

#define STEP_MS 250

/* A waiter; from the first to be woken to the last, since all have the same limit. */
struct wait {
    struct waiter waiter; /* first: of the arrival */
    struct patience *patience;
    struct wait *older, *newer; /* under lock */
    bool is_listed;             /* under lock */
    bool is_arming;             /* under lock: is not given up, and freed by who arms it */
    struct arrival *arrival;
    struct waiter *outer;
    uint64_t until_ms;
};

struct patience {
    unsigned limit_ms;
    struct outcomes *outcomes;
    struct thread thread;
    struct lock lock;
    pthread_cond_t stop, given_up;
    bool is_stopping;             /* under lock */
    struct wait *oldest, *newest; /* under lock */
    struct arrival *giving_up;    /* under lock: whose waiter is being woken too early */
};

static void unlist(struct patience *patience, struct wait *wait)
{
    lock_assert_held(&patience->lock);
    assert(wait->is_listed);
    *(wait->older ? &wait->older->newer : &patience->oldest) = wait->newer;
    *(wait->newer ? &wait->newer->older : &patience->newest) = wait->older;
    wait->is_listed = false;
}

static void come(struct waiter *waiter)
{
    struct wait *wait = (struct wait *)(void *)waiter;
    struct patience *patience = wait->patience;
    struct waiter *outer;
    bool is_first, is_arming;

    lock_take(&patience->lock);
    is_first = wait->is_listed;
    if (is_first)
        unlist(patience, wait);
    is_arming = wait->is_arming;
    outer = wait->outer;
    lock_give(&patience->lock);
    if (!is_first)
        return; /* whoever has unlisted it frees it, and wakes the waiter */
    if (!is_arming)
        free(wait);
    outer->wake(outer);
}

void patience_wait(struct patience *patience, struct arrival *arrival, struct waiter *waiter)
{
    struct wait *wait = xcalloc(1, sizeof *wait);
    bool is_over;

    *wait = (struct wait){
        .waiter = { .wake = come },
        .patience = patience,
        .is_listed = true,
        .is_arming = true,
        .arrival = arrival,
        .outer = waiter,
        .until_ms = clock_monotonic_ms() + patience->limit_ms,
    };
    lock_take(&patience->lock);
    wait->older = patience->newest;
    *(wait->older ? &wait->older->newer : &patience->oldest) = wait;
    patience->newest = wait;
    lock_give(&patience->lock);
    /* The process may be stopped here for longer than anybody waits. */
    arrival_wait(arrival, &wait->waiter);
    lock_take(&patience->lock);
    wait->is_arming = false;
    is_over = !wait->is_listed;
    lock_give(&patience->lock);
    if (is_over)
        free(wait);
}

void patience_cancel(struct patience *patience, struct arrival *arrival)
{
    struct wait *wait;

    lock_take(&patience->lock);
    wait = patience->oldest;
    while (wait && wait->arrival != arrival)
        wait = wait->newer;
    assert(!wait || !wait->is_arming);
    if (wait)
        unlist(patience, wait);
    while (patience->giving_up == arrival)
        lock_wait(&patience->lock, &patience->given_up, -1);
    lock_give(&patience->lock);
    arrival_cancel(arrival);
    free(wait);
}

/* Under the lock, which it gives meanwhile. False: none has waited too long. */
static bool give_up_one(struct patience *patience)
{
    struct wait *wait = patience->oldest;

    if (!wait || wait->is_arming || wait->until_ms > clock_monotonic_ms())
        return false;
    unlist(patience, wait);
    patience->giving_up = wait->arrival;
    lock_give(&patience->lock);
    arrival_cancel(wait->arrival);
    wait->outer->wake(wait->outer);
    free(wait);
    lock_take(&patience->lock);
    patience->giving_up = NULL;
    pthread_cond_broadcast(&patience->given_up);
    return true;
}

static void *run(void *argument)
{
    struct patience *patience = argument;

    lock_take(&patience->lock);
    while (!patience->is_stopping) {
        if (give_up_one(patience))
            continue;
        lock_give(&patience->lock);
        outcomes_expire(patience->outcomes, patience->limit_ms);
        lock_take(&patience->lock);
        if (!patience->is_stopping)
            lock_wait(&patience->lock, &patience->stop, STEP_MS);
    }
    lock_give(&patience->lock);
    return NULL;
}

static void release(struct patience *patience)
{
    pthread_cond_destroy(&patience->given_up);
    pthread_cond_destroy(&patience->stop);
    lock_release(&patience->lock);
    free(patience);
}

struct patience *patience_start(unsigned limit_ms, struct outcomes *outcomes)
{
    struct patience *patience = xcalloc(1, sizeof *patience);

    patience->limit_ms = limit_ms;
    patience->outcomes = outcomes;
    lock_init(&patience->lock, RANK_PARTITION);
    lock_condition_init(&patience->stop);
    lock_condition_init(&patience->given_up);
    if (thread_start(&patience->thread, run, patience))
        return patience;
    release(patience);
    return NULL;
}

void patience_stop(struct patience *patience)
{
    if (!patience)
        return;
    lock_take(&patience->lock);
    assert(!patience->oldest);
    patience->is_stopping = true;
    pthread_cond_signal(&patience->stop);
    lock_give(&patience->lock);
    thread_join(&patience->thread);
    release(patience);
}
