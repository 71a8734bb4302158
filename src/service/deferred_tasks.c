/* Decides and commits tasks that are due. See deferred_tasks.h. */
#include "service/placement.h"
#include "service/placement_move.h"
#include "service/placement_release.h"
#include "service/deferred_tasks.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/thread.h"
#include "content/content.h"
#include "service/driver.h"
#include "service/task_retry.h"
#include "service/server.h"

/* Memory limit of a task. Each handler documents why it needs less: content_collect() (decision
 * 245) may read three lists of 50,000 runs at once; the others read a few records of a few KiB. */
#define ARENA_MAX_BYTES ((size_t)64 << 20)
/* Number of tasks between checks of whether the runner must stop */
#define TASKS_AT_ONCE   256
/* Maximum number of records that a commit deletes. */
#define COLLECT_AT_ONCE 1000u
/* Delay after a failure, and maximum time between checks of the clock, which may be changed */
#define RETRY_MS        1000
#define LOOK_MS         60000

/* ---- one task ---- */

static enum store_result collect_content(struct decision *d, const struct deferred_task *task,
                                         const struct endpoint *endpoint)
{
    bool more = false;
    enum store_result result =
        content_collect(d->before, d->changes, d->arena, COLLECT_AT_ONCE, &more);

    if (!result && more)
        decision_defer_collection(d);
    (void)task;
    (void)endpoint;
    return result;
}

static enum store_result drop_space(struct decision *d, const struct deferred_task *task,
                                    const struct endpoint *endpoint)
{
    struct guid space;

    (void)endpoint;
    if (task->payload.len != sizeof space.b)
        return STORE_CORRUPT;
    memcpy(space.b, task->payload.ptr, sizeof space.b);
    changes_drop_space(d->changes, space);
    return STORE_OK;
}

/* Handlers that belong to no service. */
static const struct task_handler own_handlers[] = {
    { TASK_COLLECT_CONTENT, "free replaced contents", collect_content },
    { TASK_DROP_SPACE, "delete a container's records", drop_space },
    { TASK_CHECK_PLACEMENT, "end the placement of a container that is gone", placement_check_task },
    { TASK_TELL_ROOT, "notify the root cell of a deletion", placement_tell_root_task },
    { TASK_FORGET_RELEASE, "forget that a name was released", placement_forget_release_task },
    { TASK_FINISH_MOVE, "end the move of a container to another cell", move_finish_task },
    { TASK_CHECK_INCOMING, "delete the copy of a container that was not moved",
      move_check_incoming_task },
};

static const struct task_handler *find_in(const struct task_handler *handlers, size_t count,
                                          uint32_t kind)
{
    for (size_t i = 0; i < count; i++) {
        if (handlers[i].kind == kind)
            return &handlers[i];
    }
    return NULL;
}

/* Handler of a kind of task. */
struct handler {
    task_fn *decide; /* NULL if none exists */
    const struct endpoint *endpoint;
};

static struct handler find_handler(const struct service *const *services,
                                   const struct endpoint *endpoints, size_t count, uint32_t kind)
{
    const struct task_handler *found =
        find_in(own_handlers, sizeof own_handlers / sizeof own_handlers[0], kind);

    if (found)
        return (struct handler){ .decide = found->decide, .endpoint = endpoints };
    for (size_t i = 0; i < count; i++) {
        found = find_in(services[i]->task_handlers, services[i]->task_handler_count, kind);
        if (found)
            return (struct handler){ .decide = found->decide,
                                     .endpoint = endpoints ? &endpoints[i] : NULL };
    }
    return (struct handler){ .decide = NULL };
}

const char *task_kind_name(const struct endpoint_set *endpoints, uint32_t kind)
{
    const struct task_handler *found =
        find_in(own_handlers, sizeof own_handlers / sizeof own_handlers[0], kind);

    for (size_t i = 0; !found && i < endpoints->count; i++) {
        const struct service *service = endpoints->endpoints[i].service;

        found = find_in(service->task_handlers, service->task_handler_count, kind);
    }
    return found ? found->name : NULL;
}

/* A task that is running. */
struct running {
    const struct deferred_task *task;
    const struct handler *handler;
};

/* Attempts a task. Removes it if its subject no longer exists. Returns DECIDE_GONE if its space was
 * dropped. */
static enum error attempt(struct decision *d, void *of)
{
    const struct running *running = of;
    enum store_result result;

    assert(running->handler->decide);
    decision_open_subject(d, running->task->partition);
    decision_read_clock(d);
    result = running->handler->decide(d, running->task, running->handler->endpoint);
    if (read_view_is_deleted(d->before))
        return DECIDE_GONE;
    if (result == STORE_BUSY)
        return decision_take_back(d, E_ServerBusy);
    if (result == STORE_NOT_FOUND)
        decision_drop_changes(d);
    else if (result)
        return decision_fail_store(d, result);
    changes_task_done(d->changes, running->task);
    return OK;
}

/* Runs a task without waiting for durability. No response reports the result, and after a crash the
 * task runs again. */
static enum error run_once(struct store *store, const struct deferred_task *task,
                           const struct handler *handler, struct arena *arena)
{
    struct running running = { .task = task, .handler = handler };
    struct problem problem;
    struct decision d = { .store = store,
                          .arena = arena,
                          .access = STORE_MAY_BLOCK,
                          .problem = &problem,
                          .attempt = arena_mark(arena) };
    enum error e = deciding_run_unawaited(&d, attempt, &running);

    deciding_end(&d);
    arena_rewind(arena, d.attempt); /* an exhausted arena would prevent retrying the task */
    if (e == DECIDE_GONE)
        return store_task_discard(store, task) ? E_InternalError : OK;
    return e;
}

/* ---- metrics ---- */

static const struct metric_family runs_family = { "lagra_tasks_total",
                                                  "Runs of deferred tasks, by outcome.",
                                                  METRIC_COUNTER };
static const struct metric_family late_family = { "lagra_task_late_seconds",
                                                  "Delay of deferred tasks after their due time.",
                                                  METRIC_HISTOGRAM };
static const struct metric_family left_family = { "lagra_tasks_left",
                                                  "Failed deferred tasks that wait for a retry.",
                                                  METRIC_GAUGE };
static struct {
    metric_slot done, failed, late, left;
} slots;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_series(void)
{
    slots.done = metric_series(&runs_family, "outcome=\"done\"");
    slots.failed = metric_series(&runs_family, "outcome=\"failed\"");
    slots.late = metric_series(&late_family, "");
    slots.left = metric_series(&left_family, "");
}

static void count_run(const struct deferred_task *task, instant now, bool failed)
{
    metric_add(failed ? slots.failed : slots.done, 1);
    metric_observe_ns(slots.late, (now - task->due) * (1000000000 / TICKS_PER_SECOND));
}

/* ---- running all due tasks ---- */

struct runs {
    struct store *store;
    const struct service *const *services;
    const struct endpoint *endpoints;
    size_t count; /* length of both arrays */
    instant now;
};

/* Runs a task. Returns OK if it is done. Otherwise it remains in the list, and *ret_moved is set if
 * it was moved to a later time. */
static enum error run_task(const struct runs *runs, const struct deferred_task *task,
                           struct arena *arena, bool *ret_moved)
{
    enum error e = E_InternalError;
    enum store_result moved;
    struct task_try try;
    struct handler handler;

    *ret_moved = false;
    if (!task_try_read(task, &try))
        return e;
    handler = find_handler(runs->services, runs->endpoints, runs->count, try.task.kind);
    if (handler.decide)
        e = run_once(runs->store, &try.task, &handler, arena);
    if (!e)
        return OK;
    moved = task_put_off(runs->store, &try, e, runs->now, arena);
    if (moved == STORE_NOT_FOUND)
        return store_task_discard(runs->store, task) ? e : OK;
    *ret_moved = moved == STORE_OK;
    return e;
}

instant tasks_run_due(struct store *store, const struct service *const *services,
                      const struct endpoint *endpoints, size_t count, instant now, bool *ret_left)
{
    const struct runs runs = { store, services, endpoints, count, now };
    struct arena *arena = arena_new_background(ARENA_MAX_BYTES);
    struct arena_mark empty = arena_mark(arena);
    const struct deferred_task *after = NULL;
    struct deferred_task task, left;
    instant due = now;
    int64_t failures = 0;

    pthread_once(&once, make_series);
    *ret_left = false;
    for (int i = 0; i < TASKS_AT_ONCE; i++) {
        bool moved, failed;

        if (store_task_next(store, now, after, arena, &task, &due))
            break;
        failed = run_task(&runs, &task, arena, &moved) != OK;
        count_run(&task, now, failed);
        failures += failed;
        if (failed) {
            assert(task.due <= now);
            if (!moved) {
                left = task; /* only its place in the list is used */
                after = &left;
            }
            *ret_left = true;
        }
        arena_rewind(arena, empty);
        due = now;
    }
    metric_add(slots.left, failures - metric_value(slots.left));
    arena_free(arena);
    return due;
}

/* ---- the thread ---- */

struct task_runner {
    struct waiter waiter; /* must be first */
    struct store *store;
    const struct service *const *services;
    const struct endpoint *endpoints;
    size_t service_count;
    struct thread thread;
    struct lock lock;
    pthread_cond_t changed;
    pthread_cond_t ran; /* signals changes of ran_until */
    instant ran_until;  /* all tasks due at this time have run; protected by the lock */
    bool stopping;      /* protected by the lock */
    bool woken;         /* protected by the lock */
    bool is_to_look;    /* read the clock again; protected by the lock */
};

static void wake(struct waiter *waiter)
{
    struct task_runner *runner = (struct task_runner *)(void *)waiter;

    lock_acquire(&runner->lock);
    runner->woken = true;
    pthread_cond_signal(&runner->changed);
    lock_release(&runner->lock);
}

static int until_ms(instant due)
{
    instant now = clock_now();

    if (due <= now)
        return 0;
    if (due - now >= LOOK_MS * (TICKS_PER_SECOND / 1000))
        return LOOK_MS;
    return (int)((due - now) / (TICKS_PER_SECOND / 1000)) + 1;
}

/* Waits until a task that is due earlier is added, the task is due, longest_ms have passed, or the
 * runner is stopped. */
static void sleep_until(struct task_runner *runner, instant due, int longest_ms)
{
    int ms = until_ms(due);

    assert(longest_ms > 0);
    runner->woken = false;
    store_task_wait(runner->store, due, &runner->waiter);
    lock_acquire(&runner->lock);
    if (!runner->woken && !runner->stopping && !runner->is_to_look)
        lock_wait(&runner->lock, &runner->changed, ms < longest_ms ? ms : longest_ms);
    runner->is_to_look = false;
    lock_release(&runner->lock);
    if (store_task_forget(runner->store, &runner->waiter))
        return;
    lock_acquire(&runner->lock);
    /* wake() is running; do not arm the waiter again before it has finished */
    while (!runner->woken)
        lock_wait(&runner->lock, &runner->changed, -1);
    lock_release(&runner->lock);
}

static bool is_stopping(struct task_runner *runner)
{
    bool stopping;

    lock_acquire(&runner->lock);
    stopping = runner->stopping;
    lock_release(&runner->lock);
    return stopping;
}

static void note_ran(struct task_runner *runner, instant until)
{
    lock_acquire(&runner->lock);
    runner->ran_until = until;
    pthread_cond_broadcast(&runner->ran);
    lock_release(&runner->lock);
}

static void *run(void *argument)
{
    struct task_runner *runner = argument;

    while (!is_stopping(runner)) {
        bool left = false;
        instant now = clock_now();
        instant due = tasks_run_due(runner->store, runner->services, runner->endpoints,
                                    runner->service_count, now, &left);

        if (due > now)
            note_ran(runner, now);
        store_checkpoint_clock(runner->store);
        sleep_until(runner, due, left ? RETRY_MS : LOOK_MS);
    }
    return NULL;
}

struct task_runner *task_runner_start(struct store *store, const struct service *const *services,
                                      const struct endpoint *endpoints, size_t count)
{
    struct task_runner *runner = xcalloc(1, sizeof *runner);

    runner->waiter.wake = wake;
    runner->store = store;
    runner->services = services;
    runner->endpoints = endpoints;
    runner->service_count = count;
    lock_init(&runner->lock, RANK_TASK_RUNNER);
    lock_condition_init(&runner->changed);
    lock_condition_init(&runner->ran);
    if (thread_start(&runner->thread, run, runner))
        return runner;
    task_runner_stop(runner);
    return NULL;
}

void task_runner_look(struct task_runner *runner)
{
    lock_acquire(&runner->lock);
    runner->is_to_look = true;
    pthread_cond_signal(&runner->changed);
    lock_release(&runner->lock);
}

bool task_runner_await(struct task_runner *runner, instant now, int ms)
{
    uint64_t end = clock_monotonic_ms() + (uint64_t)ms;
    bool has_run;

    lock_acquire(&runner->lock);
    while (runner->ran_until < now && !runner->stopping) {
        uint64_t at = clock_monotonic_ms();

        if (at >= end)
            break;
        lock_wait(&runner->lock, &runner->ran, (int)(end - at));
    }
    has_run = runner->ran_until >= now;
    lock_release(&runner->lock);
    return has_run;
}

void task_runner_stop(struct task_runner *runner)
{
    lock_acquire(&runner->lock);
    runner->stopping = true;
    pthread_cond_signal(&runner->changed);
    pthread_cond_broadcast(&runner->ran);
    lock_release(&runner->lock);
    thread_join(&runner->thread);
    pthread_cond_destroy(&runner->changed);
    pthread_cond_destroy(&runner->ran);
    lock_destroy(&runner->lock);
    free(runner);
}
