/* What is due is decided and committed: see later.h. */
#include "service/later.h"

#include <stdlib.h>

#include "base/lock.h"
#include "base/log.h"
#include "base/thread.h"
#include "content/content.h"
#include "service/deciding.h"
#include "service/later_again.h"
#include "service/server.h"

/* What one item may hold. Each function says why it holds less: content_collect() (decision 245),
 * which may read three lists of 50,000 runs at once; the others read some records of a few KiB. */
#define ARENA_MAX_BYTES ((size_t)64 << 20)
/* Then the runner looks whether it is to stop. */
#define ITEMS_AT_ONCE   256
/* Records that one commit deletes. */
#define COLLECT_AT_ONCE 1000u
/* After a failure, and at most between two looks: the wall clock may have been set. */
#define RETRY_MS        1000
#define LOOK_MS         60000

/* ---- one item ---- */

void later_collect_content(struct changes *changes, instant now)
{
    changes_later(changes, now, LATER_COLLECT_CONTENT, bytes_of(NULL, 0));
}

static enum store_result collect_content(struct later_work *work)
{
    bool more = false;
    enum store_result result =
        content_collect(work->before, work->changes, work->arena, COLLECT_AT_ONCE, &more);

    if (!result && more)
        later_collect_content(work->changes, work->now);
    return result;
}

/* Who does an item. */
struct doer {
    later_fn *decide; /* NULL: nobody */
    const struct endpoint *endpoint;
};

static struct doer find_doer(const struct service *const *services,
                             const struct endpoint *endpoints, size_t count, uint32_t kind)
{
    if (kind == LATER_COLLECT_CONTENT)
        return (struct doer){ .decide = collect_content };
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < services[i]->later_count; k++)
            if (services[i]->later[k].kind == kind)
                return (struct doer){ .decide = services[i]->later[k].decide,
                                      .endpoint = endpoints ? &endpoints[i] : NULL };
    return (struct doer){ .decide = NULL };
}

/* An item that is being done. */
struct doing {
    const struct later_item *item;
    const struct doer *doer;
    bool gone; /* there is nothing left to do it to */
};

static enum error attempt(struct decision *d, void *of)
{
    struct doing *doing = of;
    enum store_result result;
    struct later_work work = { .item = doing->item, .endpoint = doing->doer->endpoint };

    decision_open_subject(d, doing->item->partition);
    decision_read_clock(d);
    work.before = d->before;
    work.changes = d->changes;
    work.arena = d->arena;
    work.now = d->now;
    result = doing->doer->decide(&work);
    doing->gone = result == STORE_NOT_FOUND;
    if (result)
        return decision_fail_store(d, result);
    changes_later_done(d->changes, doing->item);
    return OK;
}

/* Without a wait for durability: nobody is told, and after a crash it is done again. */
static enum error do_item(struct store *store, const struct later_item *item,
                          const struct doer *doer, struct arena *arena)
{
    struct doing doing = { .item = item, .doer = doer };
    struct problem problem;
    struct decision d = { .store = store,
                          .arena = arena,
                          .access = STORE_MAY_BLOCK,
                          .problem = &problem,
                          .attempt = arena_mark(arena) };
    enum error e = deciding_run(&d, attempt, &doing);

    deciding_end(&d);
    if (e == DECIDE_GONE || doing.gone)
        return store_later_discard(store, item) ? E_InternalError : OK;
    return e;
}

/* ---- all that are due ---- */

struct runs {
    struct store *store;
    const struct service *const *services;
    const struct endpoint *endpoints;
    size_t count; /* of both */
    instant now;
};

/* returns OK: it is done; else it is left, and *ret_moved says whether it was put off */
static enum error run_item(const struct runs *runs, const struct later_item *item,
                           struct arena *arena, bool *ret_moved)
{
    enum error e = E_InternalError;
    enum store_result moved;
    struct later_try try;
    struct doer doer;

    *ret_moved = false;
    if (!later_try_read(item, &try))
        return e;
    doer = find_doer(runs->services, runs->endpoints, runs->count, try.item.kind);
    if (doer.decide)
        e = do_item(runs->store, &try.item, &doer, arena);
    if (!e)
        return OK;
    moved = later_put_off(runs->store, &try, e, runs->now, arena);
    if (moved == STORE_NOT_FOUND)
        return store_later_discard(runs->store, item) ? e : OK;
    *ret_moved = moved == STORE_OK;
    return e;
}

instant later_run_due(struct store *store, const struct service *const *services,
                      const struct endpoint *endpoints, size_t count, instant now, bool *ret_left)
{
    const struct runs runs = { store, services, endpoints, count, now };
    struct arena *arena = arena_new(ARENA_MAX_BYTES);
    struct arena_mark empty = arena_mark(arena);
    const struct later_item *after = NULL;
    struct later_item item, left;
    instant due = now;

    *ret_left = false;
    for (int i = 0; i < ITEMS_AT_ONCE; i++) {
        bool moved;

        if (store_later_next(store, now, after, arena, &item, &due))
            break;
        if (run_item(&runs, &item, arena, &moved)) {
            if (!moved) {
                left = item; /* its place in the list is all that is looked at */
                after = &left;
            }
            *ret_left = true;
        }
        arena_rewind(arena, empty);
        due = now;
    }
    arena_free(arena);
    return due;
}

/* ---- the thread ---- */

struct later_runner {
    struct waiter waiter; /* first */
    struct store *store;
    const struct service *const *services;
    const struct endpoint *endpoints;
    size_t service_count;
    struct thread thread;
    struct lock lock;
    pthread_cond_t changed;
    bool stopping; /* under lock */
    bool woken;    /* under lock */
};

static void wake(struct waiter *waiter)
{
    struct later_runner *runner = (struct later_runner *)(void *)waiter;

    lock_take(&runner->lock);
    runner->woken = true;
    pthread_cond_signal(&runner->changed);
    lock_give(&runner->lock);
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

/* Until an item is added that is due before, or the time has come, or the runner is stopped. */
static void sleep_until(struct later_runner *runner, instant due, int longest_ms)
{
    int ms = until_ms(due);

    runner->woken = false;
    store_later_wait(runner->store, due, &runner->waiter);
    lock_take(&runner->lock);
    if (!runner->woken && !runner->stopping)
        lock_wait(&runner->lock, &runner->changed, ms < longest_ms ? ms : longest_ms);
    lock_give(&runner->lock);
    if (store_later_forget(runner->store, &runner->waiter))
        return;
    lock_take(&runner->lock);
    while (!runner->woken) /* it is being woken: the waiter must not be armed again before */
        lock_wait(&runner->lock, &runner->changed, -1);
    lock_give(&runner->lock);
}

static bool is_stopping(struct later_runner *runner)
{
    bool stopping;

    lock_take(&runner->lock);
    stopping = runner->stopping;
    lock_give(&runner->lock);
    return stopping;
}

static void *run(void *argument)
{
    struct later_runner *runner = argument;

    while (!is_stopping(runner)) {
        bool left = false;
        instant due = later_run_due(runner->store, runner->services, runner->endpoints,
                                    runner->service_count, clock_now(), &left);

        store_note_clock(runner->store);
        sleep_until(runner, due, left ? RETRY_MS : LOOK_MS);
    }
    return NULL;
}

struct later_runner *later_start(struct store *store, const struct service *const *services,
                                 const struct endpoint *endpoints, size_t count)
{
    struct later_runner *runner = xcalloc(1, sizeof *runner);

    runner->waiter.wake = wake;
    runner->store = store;
    runner->services = services;
    runner->endpoints = endpoints;
    runner->service_count = count;
    lock_init(&runner->lock, RANK_LATER_RUNNER);
    lock_condition_init(&runner->changed);
    if (thread_start(&runner->thread, run, runner))
        return runner;
    later_stop(runner);
    return NULL;
}

void later_stop(struct later_runner *runner)
{
    lock_take(&runner->lock);
    runner->stopping = true;
    pthread_cond_signal(&runner->changed);
    lock_give(&runner->lock);
    thread_join(&runner->thread);
    pthread_cond_destroy(&runner->changed);
    lock_release(&runner->lock);
    free(runner);
}
