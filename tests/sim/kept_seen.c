/* See kept_view.h. */
#include "kept_view.h"

#include <string.h>

#include "base/dates.h"
#include "blob/blob_operations.h"
#include "blob/container_operations.h"
#include "blob/keep_blob.h"
#include "path_view.h"
#include "world.h"

#define SHORT_DAY (3 * TICKS_PER_SECOND)

static uint64_t latest;

uint64_t kept_latest(void)
{
    return latest;
}

static void note_now(const struct decision *d)
{
    kept_here()->now = d->now;
}

__typeof__(retention_find) __real_retention_find, __wrap_retention_find;
__typeof__(keep_undeleted) __real_keep_undeleted, __wrap_keep_undeleted;
__typeof__(blob_subject_kept) __real_blob_subject_kept, __wrap_blob_subject_kept;
__typeof__(undelete_blob_decide) __real_undelete_blob_decide, __wrap_undelete_blob_decide;
__typeof__(list_blobs_decide) __real_list_blobs_decide, __wrap_list_blobs_decide;
__typeof__(delete_container_decide) __real_delete_container_decide, __wrap_delete_container_decide;
__typeof__(create_container_decide) __real_create_container_decide, __wrap_create_container_decide;
__typeof__(blob_locate) __real_blob_locate, __wrap_blob_locate;
__typeof__(expire_deleted) __real_expire_deleted, __wrap_expire_deleted;

enum store_result __wrap_retention_find(struct decision *d, struct bytes account,
                                        struct retention *ret_retention)
{
    enum store_result result = __real_retention_find(d, account, ret_retention);
    struct kept_view *view = kept_here();
    unsigned days;

    if (result)
        return result;
    days = ret_retention->expires > 0
               ? (unsigned)((ret_retention->expires - d->now) / TICKS_PER_DAY)
               : 0;
    if (days > 0 && !(world->plan.faults & FAULT_CLOCK))
        ret_retention->expires = d->now + days * SHORT_DAY;
    *view = (struct kept_view){ .space = view->space,
                                .now = d->now,
                                .has_policy = true,
                                .expires = ret_retention->expires,
                                .days = days,
                                .allows_permanent = ret_retention->allows_permanent,
                                .is_versioned = ret_retention->is_versioned,
                                .has_kept_base = blob_state(d)->is_kept };
    return STORE_OK;
}

enum error __wrap_keep_undeleted(struct decision *d, struct blob *blob, bool any_type,
                                 struct bytes account)
{
    note_now(d);
    return __real_keep_undeleted(d, blob, any_type, account);
}

enum error __wrap_blob_subject_kept(struct decision *d)
{
    enum error e = __real_blob_subject_kept(d);

    note_now(d);
    return e;
}

enum error __wrap_undelete_blob_decide(struct decision *d, const struct undelete_blob_parameters *p,
                                       struct undelete_blob_result *r)
{
    note_now(d);
    return __real_undelete_blob_decide(d, p, r);
}

enum error __wrap_list_blobs_decide(struct decision *d, const struct list_blobs_parameters *p,
                                    struct list_blobs_result *r)
{
    note_now(d);
    return __real_list_blobs_decide(d, p, r);
}

static uint64_t beginning_of(const struct guid *space)
{
    uint64_t beginning;

    memcpy(&beginning, space->b, sizeof beginning);
    return beginning;
}

enum error __wrap_create_container_decide(struct decision *d,
                                          const struct create_container_parameters *p,
                                          struct create_container_result *r)
{
    kept_here()->space = beginning_of(&p->space);
    return __real_create_container_decide(d, p, r);
}

enum error __wrap_blob_locate(struct decision *d, struct partition *ret_partition)
{
    enum error e;

    path_view_attempt();
    e = __real_blob_locate(d, ret_partition);
    if (!e && d->level == LEVEL_BLOB)
        kept_here()->space = beginning_of(&ret_partition->space);
    return e;
}

enum error __wrap_delete_container_decide(struct decision *d,
                                          const struct delete_container_parameters *p,
                                          struct delete_container_result *r)
{
    enum error e = __real_delete_container_decide(d, p, r);

    kept_here()->deleted_at = d->now;
    return e;
}

enum store_result __wrap_expire_deleted(struct decision *d, const struct deferred_task *task,
                                        const struct endpoint *endpoint)
{
    if (d->now > latest)
        latest = d->now;
    return __real_expire_deleted(d, task, endpoint);
}
