/* See background.h. */
#include "service/background.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/episode.h"
#include "base/lock.h"

/* Maximum number of queued jobs. */
#define WAITING_MAX 128

struct background {
    struct decision_pool *pool;
    atomic_bool stopping;
    struct lock lock;
    struct background_job *jobs; /* queued or running; protected by the lock */
};

/* A job as queued in the pool. */
struct pooled {
    struct pool_job pool_job; /* must be first */
    struct background_job *job;
};

struct background *background_new(unsigned threads_max, struct pool_shares shares)
{
    struct background *background = xcalloc(1, sizeof *background);

    lock_init(&background->lock, RANK_BACKGROUND);
    atomic_init(&background->stopping, false);
    background->pool = decision_pool_new(threads_max, shares);
    if (background->pool)
        return background;
    background_free(background);
    return NULL;
}

void background_stop(struct background *background)
{
    atomic_store(&background->stopping, true);
}

bool background_is_stopping(struct background *background)
{
    return atomic_load(&background->stopping);
}

void background_free(struct background *background)
{
    background_stop(background);
    if (background->pool)
        decision_pool_free(background->pool);
    assert(!background->jobs);
    lock_destroy(&background->lock);
    free(background);
}

static void end(struct background_job *job)
{
    struct background *background = job->background;
    struct background_job **at = &background->jobs;

    lock_acquire(&background->lock);
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    lock_release(&background->lock);
    free(job);
}

static void run(struct pool_job *pool_job)
{
    struct pooled *pooled = (struct pooled *)(void *)pool_job;
    struct background_job *job = pooled->job;

    free(pooled);
    if (!background_is_stopping(job->background))
        job->run(job);
    end(job);
}

static bool is_under_way(const struct background *background, const struct guid *id)
{
    for (const struct background_job *job = background->jobs; job; job = job->next) {
        if (guid_equal(&job->id, id))
            return true;
    }
    return false;
}

/* Adds the job unless there is one with its id or the queue is full. Caller holds the lock. */
static enum background_begun admit(struct background *background, struct background_job *job,
                                   bool has_room)
{
    lock_assert_held(&background->lock);
    assert(job->run);
    if (is_under_way(background, &job->id))
        return BACKGROUND_UNDER_WAY;
    if (!has_room || background_is_stopping(background))
        return BACKGROUND_FULL;
    job->background = background;
    job->next = background->jobs;
    background->jobs = job;
    return BACKGROUND_BEGUN;
}

enum background_begun background_begin(struct background *background, struct background_job *job)
{
    enum background_begun begun;
    bool has_room = decision_pool_has_capacity(background->pool, &job->owner, WAITING_MAX);
    struct pooled *pooled;

    lock_acquire(&background->lock);
    begun = admit(background, job, has_room);
    lock_release(&background->lock);
    if (begun == BACKGROUND_FULL && !background_is_stopping(background))
        episode_refused(EPISODE_JOBS);
    if (begun != BACKGROUND_BEGUN) {
        free(job);
        return begun;
    }
    pooled = xcalloc(1, sizeof *pooled);
    pooled->pool_job.run = run;
    pooled->pool_job.owner = job->owner;
    pooled->job = job;
    decision_pool_submit(background->pool, &pooled->pool_job);
    return begun;
}
