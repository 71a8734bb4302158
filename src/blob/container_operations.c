/* See container_operations.h. */
#include "blob/container_operations.h"

#include "base/endian.h"
#include "blob/access_control.h"
#include "blob/container_contents.h"
#include "blob/container_immutability.h"
#include "properties/soft_delete.h"
#include "service/placement.h"
#include "service/small_record.h"

/* ---- Create Container ---- */

/* Creates a container. Its space or its root directory is new, so it contains nothing of a deleted
 * container of the same name.
 *
 * Returns OK, E_ContainerAlreadyExists.
 * rest: Create-Container; unlike there, no wait of 30 seconds after a deletion is needed
 * (semantics 5, ContainerBeingDeleted) */
enum error create_container_decide(struct decision *d, const struct create_container_parameters *p,
                                   struct create_container_result *r)
{
    struct container container;
    enum store_result result;
    bool is_elsewhere;
    enum error e;

    (void)r;
    result = container_read(d->before, d->arena, &container);
    if (result == STORE_OK)
        return E_ContainerAlreadyExists;
    if (result != STORE_NOT_FOUND)
        return decision_fail_store(d, result);
    e = placement_of_new(d, &is_elsewhere);
    if (e || is_elsewhere)
        return e;

    container = (struct container){
        .space = p->space,
        .public_access = p->access,
        .hierarchical = p->hierarchical,
        .root = p->root,
        .owner = p->hierarchical ? access_control_creator(d) : bytes_of(NULL, 0),
        .metadata = p->metadata,
    };
    result = container_create_root(d, &container);
    if (result)
        return decision_fail_store(d, result);
    container.created = d->now;
    container_write_changed(d, &container);
    return OK;
}

/* ---- Get Container Properties ---- */

/* rest: Get-Container-Properties */
enum error get_container_properties_decide(struct decision *d,
                                           const struct get_container_properties_parameters *p,
                                           struct get_container_properties_result *r)
{
    (void)p;
    r->container = blob_state(d)->container;
    return OK;
}

/* ---- Get and Set Container ACL ---- */

enum error get_container_acl_decide(struct decision *d,
                                    const struct get_container_acl_parameters *p,
                                    struct get_container_acl_result *r)
{
    const struct container *container = &blob_state(d)->container;

    (void)p;
    r->access = container->public_access;
    if (!policies_decode(container->policies, &r->policies))
        return decision_fail_store(d, STORE_CORRUPT);
    return OK;
}

/* Replaces the public access and all policies; those absent from the request are removed. */
enum error set_container_acl_decide(struct decision *d,
                                    const struct set_container_acl_parameters *p,
                                    struct set_container_acl_result *r)
{
    struct container container = blob_state(d)->container;

    (void)r;
    container.public_access = p->access;
    container.policies = policies_encode(d->arena, &p->policies);
    container_write_changed(d, &container);
    return OK;
}

void container_write_state(struct decision *d)
{
    container_write_changed(d, &blob_state(d)->container);
}

/* ---- operations on the service ---- */

/* Returns the same for the service, a container or a blob; reads nothing.
 * rest: Get-Account-Information */
enum error get_account_information_decide(struct decision *d,
                                          const struct get_account_information_parameters *p,
                                          struct get_account_information_result *r)
{
    (void)d;
    (void)p;
    (void)r;
    return OK;
}

/* Every container is a partition of the account's space. rest: List-Containers2 */
enum error list_containers_decide(struct decision *d, const struct list_containers_parameters *p,
                                  struct list_containers_result *r)
{
    return listing_of_space(d, blob_account_space(d->input->account), &p->listing, p->from, p->sink,
                            &r->next);
}

/* Delete Container, Restore Container, and the expiry of soft-deleted containers.
 *
 * If soft delete is on, a deleted container is retained for some days: its record moves to a key
 * with the time of the deletion, so that the name is free, and its blobs are unchanged. A write to
 * a flat container that found it before the deletion may still commit; it counts as earlier.
 * rest: Delete-Container, Restore-Container; semantics 3.4; decisions: 62, 811 */

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
    container.immutability.is_closed = false;
    container.etag = d->subject.etag = etag_after(container.etag, d->now);
    container.modified = d->subject.modified = d->now;
    container_write_deleted(d->changes, d->arena, d->now, &container);
}

/* Deletes or retains the container's record and contents in one commit. All its blobs disappear
 * with it, whatever their leases. Does nothing if the container was deleted a moment ago. */
enum error delete_container_decide(struct decision *d, const struct delete_container_parameters *p,
                                   struct delete_container_result *r)
{
    struct service_properties properties;
    enum store_result result;
    enum error e;

    (void)p;
    (void)r;
    if (!d->subject.exists)
        return OK;
    e = immutability_permit_drop(d);
    if (e)
        return e;
    result = service_properties_guard(d, "blob", &properties);
    decision_read_clock(d);
    if (!result)
        result =
            container_drop(d, &blob_state(d)->container, properties.container_retention_days > 0);
    if (!result && properties.container_retention_days == 0)
        result = placement_deleted(d);
    if (result)
        return decision_fail_store(d, result);
    if (properties.container_retention_days > 0)
        keep_deleted(d, properties.container_retention_days);
    recent_deletion_write(d->changes, d->arena, d->now);
    container_delete_record(d->changes);
    return OK;
}

/* Restores a soft-deleted container and its blobs, without its lease.
 *
 * Returns OK, E_ContainerAlreadyExists, E_ContainerNotFound.
 * No wait of 30 seconds after the deletion is needed (semantics 5, ContainerBeingDeleted). */
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
    if (!result)
        result = container_restore(d, &container);
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
                                         : result; /* restored: its task is about to be deleted */
    container_delete_deleted(d->changes, d->arena, deleted);
    result = container_drop_retained(d, &container);
    return result ? result : placement_deleted(d);
}
