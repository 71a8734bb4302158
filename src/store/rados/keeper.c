#include "store/rados/keeper.h"

#include <assert.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "store/rados/beat.h"
#include "store/rados/blocking.h"
#include "store/rados/departed.h"
#include "store/rados/own_tasks.h"
#include "store/rados/todo.h"

/* Dead front ends that are retired at once. */
#define DEAD_MAX 16u

struct keeper {
    struct rados *rados;
    struct thread thread;
    struct lock lock;
    pthread_cond_t stop;
    bool is_stopping; /* under lock */
};

void keeper_pass(struct rados *rados, bool is_all)
{
    struct own_task task, after;
    bool has_after = false;
    struct arena *arena = arena_new(64u << 20);

    while (todo_next_own(rados, clock_now(), is_all, has_after ? &after : NULL, arena, &task)) {
        if (own_task_do(rados, &task, is_all) && todo_end_own(rados, &task))
            log_line(LOG_ERROR, "rados: a task of the store's own stays");
        after = task;
        has_after = true;
    }
    arena_free(arena);
}

static bool goes_on(struct keeper *keeper)
{
    bool is_stopping;

    lock_take(&keeper->lock);
    is_stopping = keeper->is_stopping;
    lock_give(&keeper->lock);
    return !is_stopping;
}

/* ---- what no commit names ---- */

/* Of commits of this front end whose outcomes were not learned: nothing of them is on its way any more. */
static void look_for_lost(struct rados *rados)
{
    const struct leftovers leftovers = { rados->pieces, rados->shards, rados->grace, false };
    uint64_t numbers[INTENT_NUMBERS];
    size_t count = staged_lost(rados->staged, rados->grace / (TICKS_PER_SECOND / 1000), numbers,
                               INTENT_NUMBERS);

    if (count == 0 ||
        !leftovers_collect(&leftovers, shards_incarnation(rados->shards), numbers, count))
        return;
    for (size_t i = 0; i < count; i++)
        staged_found(rados->staged, numbers[i]);
}

static void look_for_departed(struct keeper *keeper)
{
    struct rados *rados = keeper->rados;
    const struct departed departed = {
        .leftovers = { rados->pieces, rados->shards, rados->grace, true },
        .records = rados->port,
        .again = rados->again,
    };
    struct beat_dead dead[DEAD_MAX];
    size_t count = beat_dead(rados->beat, dead, DEAD_MAX);

    for (size_t i = 0; i < count; i++)
        if (!departed_retire(rados->port, dead[i].incarnation, &dead[i].row))
            return;
    while (beat_is_first(rados->beat) && goes_on(keeper) && departed_step(&departed, clock_now()))
        continue;
}

static void keep_once(struct keeper *keeper)
{
    if (beat_is_fenced(keeper->rados->beat))
        return; /* it is itself one of them */
    keeper_pass(keeper->rados, false);
    look_for_lost(keeper->rados);
    look_for_departed(keeper);
}

static void *keep(void *argument)
{
    struct keeper *keeper = argument;

    lock_take(&keeper->lock);
    while (!keeper->is_stopping) {
        lock_give(&keeper->lock);
        if (beat_clock_agrees(keeper->rados->beat)) /* what is due is due by the clock */
            keep_once(keeper);
        lock_take(&keeper->lock);
        if (!keeper->is_stopping)
            lock_wait(&keeper->lock, &keeper->stop, KEEPER_STEP_MS);
    }
    lock_give(&keeper->lock);
    return NULL;
}

struct keeper *keeper_start(struct rados *rados)
{
    struct keeper *keeper = xcalloc(1, sizeof *keeper);

    keeper->rados = rados;
    lock_init(&keeper->lock, RANK_PARTITION);
    lock_condition_init(&keeper->stop);
    if (thread_start(&keeper->thread, keep, keeper))
        return keeper;
    keeper_stop(keeper);
    return NULL;
}

void keeper_stop(struct keeper *keeper)
{
    lock_take(&keeper->lock);
    keeper->is_stopping = true;
    pthread_cond_signal(&keeper->stop);
    lock_give(&keeper->lock);
    thread_join(&keeper->thread);
    pthread_cond_destroy(&keeper->stop);
    lock_release(&keeper->lock);
    free(keeper);
}
