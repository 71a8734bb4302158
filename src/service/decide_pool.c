/* A queue of jobs and the threads that run them; see decide_pool.h. */
#include "service/decide_pool.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/crc.h"
#include "base/lock.h"
#include "base/thread.h"

#define THREADS_MAX 64
/* Number of queues; two accounts may share one. */
#define LANES       64u

/* A running job; on the stack of its thread. */
struct turn {
    struct pool_owner owner;
    struct turn *next;
};

/* Jobs of an account in order. If empty, first is NULL and end is undefined. */
struct lane {
    struct pool_job *first, **end;
};

struct decision_pool {
    struct pool_shares shares;
    struct lock lock;
    pthread_cond_t work;      /* signals a new job or the stop */
    struct lane lanes[LANES]; /* protected by the lock, like all fields below */
    uint64_t filled;          /* one bit per lane with jobs */
    unsigned next;            /* lane to check first */
    unsigned queued;
    struct turn *turns;
    unsigned idle; /* number of threads waiting for a job */
    unsigned thread_count;
    unsigned threads_max;
    bool stopping;
    struct thread threads[THREADS_MAX];
};

uint64_t pool_owner_number(uint64_t within, struct bytes name)
{
    return crc64(within, name.ptr, name.len) | 1;
}

/* Asserts the pool's invariants. Caller holds the lock. */
static void assert_pool(const struct decision_pool *pool)
{
    lock_assert_held(&pool->lock);
    assert(!pool->filled == (pool->queued == 0) && pool->next < LANES);
    assert(pool->thread_count <= pool->threads_max && pool->idle <= pool->thread_count);
}

/* Returns true if another job of the owner is within the share. */
static bool is_within(unsigned share, uint64_t owner, unsigned running)
{
    return share == 0 || owner == 0 || running < share;
}

static bool has_share(const struct decision_pool *pool, const struct pool_owner *owner)
{
    unsigned of_account = 0, of_source = 0;

    for (const struct turn *turn = pool->turns; turn; turn = turn->next) {
        of_account += turn->owner.account == owner->account;
        of_source += turn->owner.source == owner->source;
    }
    return is_within(pool->shares.account, owner->account, of_account) &&
           is_within(pool->shares.source, owner->source, of_source);
}

static unsigned lane_of(const struct pool_owner *owner)
{
    return owner->account != 0 ? 1 + (unsigned)(owner->account % (LANES - 1)) : 0;
}

static void append(struct decision_pool *pool, struct pool_job *job)
{
    struct lane *lane = &pool->lanes[lane_of(&job->owner)];

    job->next = NULL;
    if (!lane->first)
        lane->end = &lane->first;
    *lane->end = job;
    lane->end = &job->next;
    pool->filled |= UINT64_C(1) << lane_of(&job->owner);
    pool->queued++;
}

/* Removes and returns the lane's first job that may run now, or NULL. */
static struct pool_job *take_from(struct decision_pool *pool, struct lane *lane)
{
    struct pool_job **at = &lane->first, *job;

    while (*at && !has_share(pool, &(*at)->owner))
        at = &(*at)->next;
    job = *at;
    if (!job)
        return NULL;
    *at = job->next;
    if (!*at)
        lane->end = at;
    if (!lane->first)
        pool->filled &= ~(UINT64_C(1) << (lane - pool->lanes));
    pool->queued--;
    return job;
}

/* Removes and returns a job that may run now, from the first lane that has one, starting at `next`;
 * or NULL. */
static struct pool_job *take(struct decision_pool *pool)
{
    uint64_t before = (UINT64_C(1) << pool->next) - 1;
    uint64_t halves[] = { pool->filled & ~before, pool->filled & before };

    for (size_t i = 0; i < sizeof halves / sizeof halves[0]; i++)
        for (uint64_t left = halves[i]; left; left &= left - 1) {
            unsigned number = (unsigned)__builtin_ctzll(left);
            struct pool_job *job = take_from(pool, &pool->lanes[number]);

            if (job) {
                pool->next = (number + 1) % LANES;
                return job;
            }
        }
    return NULL;
}

static void begin_turn(struct decision_pool *pool, struct turn *turn)
{
    turn->next = pool->turns;
    pool->turns = turn;
}

static void end_turn(struct decision_pool *pool, struct turn *turn)
{
    struct turn **at = &pool->turns;

    while (*at != turn)
        at = &(*at)->next;
    *at = turn->next;
}

static void *run_jobs(void *argument)
{
    struct decision_pool *pool = argument;
    struct turn turn;

    thread_give_way();
    lock_acquire(&pool->lock);
    for (;;) {
        struct pool_job *job = take(pool);

        if (!job && pool->stopping)
            break;
        if (!job) {
            pool->idle++;
            lock_wait(&pool->lock, &pool->work, -1);
            pool->idle--;
            continue;
        }
        turn.owner = job->owner;
        begin_turn(pool, &turn);
        assert_pool(pool);
        lock_release(&pool->lock);
        job->run(job);
        lock_acquire(&pool->lock);
        end_turn(pool, &turn);
    }
    lock_release(&pool->lock);
    return NULL;
}

/* Starts a thread. Caller holds the lock. On failure, jobs just wait longer for the existing
 * threads. */
static bool start_thread(struct decision_pool *pool)
{
    if (pool->thread_count == pool->threads_max)
        return false;
    if (!thread_start(&pool->threads[pool->thread_count], run_jobs, pool))
        return false;
    pool->thread_count++;
    return true;
}

struct decision_pool *decision_pool_new(unsigned threads_max, struct pool_shares shares)
{
    struct decision_pool *pool = xcalloc(1, sizeof *pool);
    bool started;

    assert(threads_max >= 1 && threads_max <= THREADS_MAX);
    lock_init(&pool->lock, RANK_DECIDE_POOL);
    lock_condition_init(&pool->work);
    pool->threads_max = threads_max;
    pool->shares = shares;
    lock_acquire(&pool->lock);
    started = start_thread(pool);
    lock_release(&pool->lock);
    if (started)
        return pool;
    decision_pool_free(pool);
    return NULL;
}

void decision_pool_free(struct decision_pool *pool)
{
    lock_acquire(&pool->lock);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->work);
    lock_release(&pool->lock);
    for (unsigned i = 0; i < pool->thread_count; i++)
        thread_join(&pool->threads[i]);
    assert(pool->queued == 0);
    pthread_cond_destroy(&pool->work);
    lock_destroy(&pool->lock);
    free(pool);
}

bool decision_pool_has_capacity(struct decision_pool *pool, const struct pool_owner *owner,
                                unsigned places)
{
    unsigned of_account = 0, of_source = 0, free_places;

    lock_acquire(&pool->lock);
    assert_pool(pool);
    for (const struct pool_job *job = pool->lanes[lane_of(owner)].first; job; job = job->next) {
        of_account += owner->account != 0 && job->owner.account == owner->account;
        of_source += owner->source != 0 && job->owner.source == owner->source;
    }
    free_places = places > pool->queued ? places - pool->queued : 0;
    lock_release(&pool->lock);
    return free_places > of_account && free_places > 2 * of_source;
}

void decision_pool_submit(struct decision_pool *pool, struct pool_job *job)
{
    lock_acquire(&pool->lock);
    assert(!pool->stopping && job->run);
    append(pool, job);
    /* A thread counts as idle until it is running again, so an idle thread may already have been
     * woken for an earlier job. */
    if (pool->queued > pool->idle)
        start_thread(pool);
    pthread_cond_signal(&pool->work);
    assert_pool(pool);
    lock_release(&pool->lock);
}
