/* See retention.h. */
#include "blob/retention.h"

#include "base/endian.h"
#include "blob/snapshot_changes.h"
#include "properties/service_properties.h"

/* Payload: time of the deletion, first and last date of snapshots; be64 each. */
#define PAYLOAD_SIZE  24

/* Snapshots examined in one step. */
#define LOOKED_AT_MAX 256u

/* Returns 0 without days. */
static instant expiry(const struct decision *d, uint32_t days)
{
    return days > 0 ? d->now + days * TICKS_PER_DAY : 0;
}

enum store_result retention_find(struct decision *d, struct bytes account,
                                 struct retention *ret_retention)
{
    struct service_properties properties;
    enum store_result result = service_properties_look(d, "blob", account, &properties);
    uint32_t days = properties.blob_retention_days;

    if (result)
        return result;
    if (d->state && blob_state(d)->container.hierarchical) {
        *ret_retention = (struct retention){ .expires = 0 };
        return STORE_OK;
    }
    *ret_retention = (struct retention){
        .expires = expiry(d, days),
        .allows_permanent = properties.allows_permanent_delete,
        .is_versioned = properties.is_versioning_enabled ||
                        (d->state && blob_state(d)->container.immutability.has_versions),
    };
    return STORE_OK;
}

enum store_result retention_find_of_paths(struct decision *d, struct bytes account,
                                          struct retention *ret_retention)
{
    struct service_properties properties;
    enum store_result result = service_properties_look(d, "blob", account, &properties);

    if (!result)
        *ret_retention = (struct retention){ .expires = expiry(d, properties.blob_retention_days) };
    return result;
}

/* ---- expiry ---- */

void expire_deleted_defer(struct changes *changes, const struct blob_deletion *deletion,
                          instant from, instant until)
{
    char payload[PAYLOAD_SIZE];

    be64_put(payload, deletion->at);
    be64_put(payload + 8, from);
    be64_put(payload + 16, until);
    changes_defer(changes, deletion->expires, TASK_EXPIRE_DELETED,
                  bytes_of(payload, sizeof payload));
}

/* Finds the first snapshot of the range that was deleted at that time. *ret_next: date to continue
 * at, or 0 at the end of the range. Returns STORE_NOT_FOUND if none of those examined was. */
static enum store_result find_snapshot(struct decision *d, instant deleted, instant from,
                                       instant until, struct blob *ret_snapshot, instant *ret_next)
{
    enum store_result result = STORE_OK;
    struct snapshot_marks marks;
    struct scan *scan;

    *ret_next = 0;
    result = snapshot_marks_read(d->before, d->arena, &marks);
    if (result)
        return result;
    scan = blob_scan_snapshots(d->before, from);
    for (unsigned looked_at = 0; !result; looked_at++) {
        result = snapshot_next(scan, d->arena, &marks, ret_snapshot);
        if (!result && ret_snapshot->ref.at > until)
            result = STORE_NOT_FOUND;
        if (result)
            break;
        *ret_next = ret_snapshot->ref.at < until ? ret_snapshot->ref.at + 1 : 0;
        if (ret_snapshot->deletion.at == deleted)
            break;
        if (looked_at == LOOKED_AT_MAX) {
            result = STORE_NOT_FOUND;
            break;
        }
        *ret_next = 0;
    }
    scan_close(scan);
    return result;
}

static enum store_result end_snapshots(struct decision *d, instant deleted, instant from,
                                       instant until)
{
    const struct blob_deletion due = { .at = deleted, .expires = d->now };
    struct blob snapshot;
    instant next;
    enum store_result result = find_snapshot(d, deleted, from, until, &snapshot, &next);

    if (result && result != STORE_NOT_FOUND)
        return result;
    if (!result)
        result = snapshot_end(d, &snapshot);
    else
        result = STORE_OK;
    if (!result && next > 0)
        expire_deleted_defer(d->changes, &due, next, until);
    return result;
}

/* Deletes the base or one snapshot. Clients cannot see the steps: all of it has expired. */
enum store_result expire_deleted(struct decision *d, const struct deferred_task *task,
                                 const struct endpoint *endpoint)
{
    const struct bytes payload = task->payload;
    instant deleted, from, until;
    struct blob base;
    enum store_result result;

    (void)endpoint;
    if (payload.len != PAYLOAD_SIZE)
        return STORE_OK;
    deleted = be64_get(payload.ptr);
    from = be64_get(payload.ptr + 8);
    until = be64_get(payload.ptr + 16);
    result = blob_read_kept(d->before, d->arena, blob_base, &base);
    if (result)
        return result;
    if (base.deletion.at != deleted) {
        result = until > 0 ? end_snapshots(d, deleted, from, until) : STORE_OK;
    } else {
        result = base_end_kept(d, &base);
        if (!result && until > 0)
            expire_deleted_defer(d->changes,
                                 &(struct blob_deletion){ .at = deleted, .expires = d->now }, from,
                                 until);
    }
    if (!result && d->leaves_more)
        decision_defer_collection(d);
    return result;
}
