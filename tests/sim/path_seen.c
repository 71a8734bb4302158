/* See path_view.h. */
#include "path_view.h"

#include "base/dates.h"
#include "blob/expiry.h"
#include "blob/kept_paths.h"
#include "blob/namespace.h"
#include "judge.h"
#include "kept_view.h"
#include "world.h"

#define SHORT_DAY (3 * TICKS_PER_SECOND)
/* No run takes a day of its own time, except at its end. */
#define DAY_NS    (UINT64_C(86400) * 1000000000)

static struct path_view of_requests[SLOTS_MAX];
static uint64_t latest;

/* A request may be decided on one thread and committed on another. */
struct path_view *path_view_here(void)
{
    static _Thread_local struct path_view of_jobs;
    int slot = request_slot();

    return slot >= 0 && slot < (int)SLOTS_MAX ? &of_requests[slot] : &of_jobs;
}

struct path_view path_view_of(unsigned slot)
{
    return of_requests[slot];
}

void path_view_forget(unsigned slot)
{
    of_requests[slot] = (struct path_view){ .first = 0 };
}

uint64_t path_view_latest(void)
{
    return latest;
}

void path_view_attempt(void)
{
    struct path_view *view = path_view_here();

    *view = (struct path_view){ .first = view->first, .last = view->last };
}

__typeof__(decision_read_clock) __real_decision_read_clock, __wrap_decision_read_clock;
__typeof__(decision_keep_above) __real_decision_keep_above, __wrap_decision_keep_above;
__typeof__(blob_enter) __real_blob_enter, __wrap_blob_enter;
__typeof__(namespace_hide) __real_namespace_hide, __wrap_namespace_hide;
__typeof__(namespace_hidden_place) __real_namespace_hidden_place, __wrap_namespace_hidden_place;
__typeof__(retention_find_of_paths) __real_retention_find_of_paths, __wrap_retention_find_of_paths;
__typeof__(kept_path_retain) __real_kept_path_retain, __wrap_kept_path_retain;
__typeof__(kept_path_mark) __real_kept_path_mark, __wrap_kept_path_mark;
__typeof__(expiry_set) __real_expiry_set, __wrap_expiry_set;
__typeof__(expire_path) __real_expire_path, __wrap_expire_path;
__typeof__(expire_file_task) __real_expire_file_task, __wrap_expire_file_task;

void __wrap_decision_read_clock(struct decision *d)
{
    struct path_view *view = path_view_here();

    __real_decision_read_clock(d);
    if (view->first == 0)
        view->first = d->now;
    view->last = d->now;
}

void __wrap_decision_keep_above(struct decision *d)
{
    __real_decision_keep_above(d);
    path_view_here()->last = d->now;
}

enum error __wrap_blob_enter(struct decision *d)
{
    enum error e = __real_blob_enter(d);

    kept_entered(d->now);
    path_view_here()->clears = e == DECIDE_PREPARED && blob_state(d)->has_expired;
    return e;
}

enum error __wrap_namespace_hide(struct decision *d)
{
    enum error e = __real_namespace_hide(d);

    path_view_here()->prepares = e == DECIDE_PREPARED;
    return e;
}

enum error __wrap_namespace_hidden_place(struct decision *d, uint64_t id,
                                         struct tree_place *ret_place)
{
    enum error e = __real_namespace_hidden_place(d, id, ret_place);

    path_view_here()->prepares = e == DECIDE_PREPARED;
    return e;
}

/* Days are as short as those of flat accounts (kept_seen.c). */
enum store_result __wrap_retention_find_of_paths(struct decision *d, struct bytes account,
                                                 struct retention *ret_retention)
{
    enum store_result result = __real_retention_find_of_paths(d, account, ret_retention);
    struct path_view *view = path_view_here();

    if (result)
        return result;
    view->has_policy = true;
    view->days = ret_retention->expires > 0
                     ? (unsigned)((ret_retention->expires - d->now) / TICKS_PER_DAY)
                     : 0;
    if (view->days > 0 && !(world->plan.faults & FAULT_CLOCK))
        ret_retention->expires = d->now + view->days * SHORT_DAY;
    view->expires = ret_retention->expires;
    return STORE_OK;
}

enum error __wrap_kept_path_retain(struct decision *d, const struct retention *retention,
                                   instant *ret_deleted)
{
    enum error e = __real_kept_path_retain(d, retention, ret_deleted);

    path_view_here()->deleted_at = d->now;
    return e;
}

enum error __wrap_kept_path_mark(struct decision *d, const struct retention *retention)
{
    enum error e = __real_kept_path_mark(d, retention);

    path_view_here()->deleted_at = d->now;
    return e;
}

enum error __wrap_expiry_set(struct decision *d, const struct expiry_request *request,
                             struct blob *blob)
{
    enum error e = __real_expiry_set(d, request, blob);

    path_view_here()->expiry = e ? 0 : blob->expiry.at;
    return e;
}

/* In every second life half of the tasks fail at first, so that clients meet what has expired and is not deleted yet; but not
 * while the census lets days pass: after eight failures in a row a task waits for longer than the census. */
static bool is_put_off(void)
{
    static enum { NOT_DRAWN, AT_ONCE, LATE } life;

    if (life == NOT_DRAWN)
        life = world_once_in(STREAM_FAULTS, 2) ? AT_ONCE : LATE;
    return life == LATE && world->now_ns < DAY_NS && world_once_in(STREAM_FAULTS, 2);
}

static void note_latest(const struct decision *d)
{
    if (d->now > latest)
        latest = d->now;
}

enum store_result __wrap_expire_path(struct decision *d, const struct deferred_task *task,
                                     const struct endpoint *endpoint)
{
    if (is_put_off())
        return STORE_BUSY;
    note_latest(d);
    return __real_expire_path(d, task, endpoint);
}

enum store_result __wrap_expire_file_task(struct decision *d, const struct deferred_task *task,
                                          const struct endpoint *endpoint)
{
    if (is_put_off())
        return STORE_BUSY;
    note_latest(d);
    return __real_expire_file_task(d, task, endpoint);
}
