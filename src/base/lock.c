/* Ranked mutexes. With LAGRA_DEBUG_LOCKS, each thread records the ranks it holds, lowest first,
 * and asserts that a newly acquired lock has a higher rank than all of them, and that the thread's
 * scheduling priority is not lower than that of threads that may wait for the lock. */
#include "base/lock.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <time.h>

#include "base/thread.h"

#ifdef LAGRA_DEBUG_LOCKS

#define HELD_MAX 32

static _Thread_local enum lock_rank held[HELD_MAX];
static _Thread_local int held_count;
static _Thread_local uint64_t looked_at; /* bit per rank: thread_has_full_share() was checked */

/* Checks once per rank, because each check takes three system calls. decision: 280 */
static void look_at_share(enum lock_rank rank)
{
    if (looked_at & UINT64_C(1) << rank)
        return;
    looked_at |= UINT64_C(1) << rank;
    assert(thread_has_full_share()); /* a thread of lowered priority holds no lock */
}

static void remember(enum lock_rank rank)
{
    assert(rank > 0); /* lock_init() was called */
    look_at_share(rank);
    assert(held_count < HELD_MAX);
    /* locks are acquired only in order of rank */
    assert(held_count == 0 || held[held_count - 1] < rank);
    held[held_count++] = rank;
}

static void remember_next(enum lock_rank rank)
{
    assert(held_count > 0 && held_count < HELD_MAX);
    assert(held[held_count - 1] == rank);
    held[held_count++] = rank;
}

static bool remembers(enum lock_rank rank)
{
    for (int i = 0; i < held_count; i++)
        if (held[i] == rank)
            return true;
    return false;
}

/* Removes a rank from those held. Locks may be released in any order. */
static void forget(enum lock_rank rank)
{
    int at = held_count - 1;

    while (at >= 0 && held[at] != rank)
        at--;
    assert(at >= 0); /* not held by this thread */
    for (; at + 1 < held_count; at++)
        held[at] = held[at + 1];
    held_count--;
}

#else

static void remember(enum lock_rank rank)
{
    (void)rank;
}

static void remember_next(enum lock_rank rank)
{
    (void)rank;
}

static bool remembers(enum lock_rank rank)
{
    (void)rank;
    return true;
}

static void forget(enum lock_rank rank)
{
    (void)rank;
}

#endif

static void must(int result)
{
    assert(result == 0);
}

void lock_init(struct lock *lock, enum lock_rank rank)
{
    must(pthread_mutex_init(&lock->mutex, NULL));
    lock->rank = rank;
    lock->is_taken = false;
}

void lock_destroy(struct lock *lock)
{
    assert(!lock->is_taken);
    must(pthread_mutex_destroy(&lock->mutex));
}

void lock_acquire(struct lock *lock)
{
    remember(lock->rank);
    must(pthread_mutex_lock(&lock->mutex));
    assert(!lock->is_taken);
    lock->is_taken = true;
}

void lock_acquire_next(struct lock *lock, const struct lock *last)
{
    assert(last->rank == lock->rank && last < lock);
    remember_next(lock->rank);
    must(pthread_mutex_lock(&lock->mutex));
    assert(!lock->is_taken);
    lock->is_taken = true;
}

void lock_assert_held(const struct lock *lock)
{
    assert(lock->is_taken);
    assert(remembers(lock->rank));
}

void lock_release(struct lock *lock)
{
    lock_assert_held(lock);
    lock->is_taken = false;
    forget(lock->rank);
    must(pthread_mutex_unlock(&lock->mutex));
}

void lock_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;

    must(pthread_condattr_init(&attributes));
    must(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC));
    must(pthread_cond_init(condition, &attributes));
    must(pthread_condattr_destroy(&attributes));
}

static struct timespec monotonic_after_us(uint64_t us)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)(us / 1000000);
    until.tv_nsec += (long)(us % 1000000) * 1000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    return until;
}

/* until: NULL waits forever */
static bool wait_until(struct lock *lock, pthread_cond_t *condition, const struct timespec *until)
{
    int result;

    lock_assert_held(lock);
    lock->is_taken = false;
    forget(lock->rank);
    result = until ? pthread_cond_timedwait(condition, &lock->mutex, until)
                   : pthread_cond_wait(condition, &lock->mutex);
    assert(result == 0 || result == ETIMEDOUT);
    remember(lock->rank);
    assert(!lock->is_taken);
    lock->is_taken = true;
    return result == 0;
}

bool lock_wait(struct lock *lock, pthread_cond_t *condition, int timeout_ms)
{
    struct timespec until;

    if (timeout_ms < 0)
        return wait_until(lock, condition, NULL);
    until = monotonic_after_us((uint64_t)timeout_ms * 1000);
    return wait_until(lock, condition, &until);
}

bool lock_wait_us(struct lock *lock, pthread_cond_t *condition, unsigned timeout_us)
{
    struct timespec until = monotonic_after_us(timeout_us);

    return wait_until(lock, condition, &until);
}
