/* Delete Container and Restore Container, and what becomes of a container that is deleted.
 *
 * Where the service's properties say so, a deleted container is kept for some days: its record moves behind the
 * instant of its deletion, so that the name is free, and all that is in it stays as it is. A write that found the container
 * before that may still commit, as one that came before the deletion. rest: Delete-Container, Restore-Container;
 * semantics 3.4; decisions: 62, 811 */
#include "base/endian.h"
#include "blob/container_operations.h"
#include "service/kept_deletion.h"
#include "service/placement.h"
#include "service/recent_deletion.h"
#include "service/small_record.h"

static const struct lease no_lease;

static void keep_deleted(struct decision *d, uint32_t days)
{
    struct container container = blob_state(d)->container;
    char payload[8];

    be64_put(payload, d->now);
    container.expires = d->now + days * TICKS_PER_DAY;
    container.task = changes_defer(d->changes, container.expires, TASK_EXPIRE_CONTAINER,
                                   bytes_of(payload, sizeof payload));
    container.lease = no_lease;
    container.etag = d->subject.etag = etag_after(container.etag, d->now);
    container.modified = d->subject.modified = d->now;
    container_write_deleted(d->changes, d->arena, d->now, &container);
}

/* Deletes the container's record, and drops its space or keeps all of it, in one change: all blobs are gone with it, and
 * their leases do not matter. One that was deleted a moment ago needs nothing more. */
enum error delete_container_decide(struct decision *d, const struct delete_container_parameters *p,
                                   struct delete_container_result *r)
{
    struct service_properties properties;
    enum store_result result;

    (void)p;
    (void)r;
    if (!d->subject.exists)
        return OK;
    result = service_properties_guard(d, "blob", &properties);
    if (result)
        return decision_fail_store(d, result);
    decision_read_clock(d);
    if (properties.container_retention_days > 0)
        keep_deleted(d, properties.container_retention_days);
    else
        changes_drop_space(d->changes, blob_state(d)->container.space);
    if (properties.container_retention_days == 0)
        result = placement_deleted(d);
    if (result)
        return decision_fail_store(d, result);
    recent_deletion_write(d->changes, d->arena, d->now);
    container_delete_record(d->changes);
    return OK;
}

/* Gives a container back that was deleted and is kept, with all that is in it, but without its lease.
 *
 * returns  OK, E_ContainerAlreadyExists, E_ContainerNotFound
 * the wait of 30 seconds after the deletion is not needed here (semantics 5, ContainerBeingDeleted) */
enum error restore_container_decide(struct decision *d,
                                    const struct restore_container_parameters *p,
                                    struct restore_container_result *r)
{
    struct container container;
    enum store_result result = container_read(d->before, d->arena, &container);

    (void)r;
    if (!result)
        return E_ContainerAlreadyExists;
    if (result == STORE_NOT_FOUND)
        result = container_read_deleted(d->before, d->arena, p->deleted, &container);
    if (result == STORE_NOT_FOUND)
        return placement_missing(d, d->before, E_ContainerNotFound);
    if (!result && container.expires <= d->now)
        return E_ContainerNotFound;
    if (result)
        return decision_fail_store(d, result);
    changes_task_done(d->changes,
                      &(struct deferred_task){ .due = container.expires, .id = container.task });
    container_delete_deleted(d->changes, d->arena, p->deleted);
    container_write_changed(d, &container);
    return OK;
}

enum store_result expire_container(struct decision *d, const struct deferred_task *task,
                                   const struct endpoint *endpoint)
{
    struct container container;
    enum store_result result;
    instant deleted;

    (void)endpoint;
    if (task->payload.len != sizeof deleted)
        return record_is_unknown("a task of a deleted container", task->payload);
    deleted = be64_get(task->payload.ptr);
    result = container_read_deleted(d->before, d->arena, deleted, &container);
    if (result)
        return result == STORE_NOT_FOUND ? STORE_OK
                                         : result; /* restored: its task is gone in a moment */
    container_delete_deleted(d->changes, d->arena, deleted);
    changes_drop_space(d->changes, container.space);
    return placement_deleted(d);
}
