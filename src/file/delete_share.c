/* Delete Share, Restore Share, and the deferred tasks of deleted shares and snapshots.
 *
 * If the service properties enable soft delete, a deleted share is retained for some days: its
 * records move to keys prefixed with the deletion time (struct share_key), which frees the name,
 * and its tree is closed. Each write in a share has the tree's own partition as a guard, so a write
 * that would commit after the deletion is decided again and finds no share. Restore Share moves the
 * records back. */
#include "file/share_operations.h"

#include "base/endian.h"
#include "properties/soft_delete.h"
#include "service/placement.h"
#include "service/small_record.h"

/* ---- snapshots of a share ---- */

struct share_snapshots {
    struct share *shares;
    instant *dates;
    size_t count;
};

/* Reads the snapshots of a share. deleted: as in share_scan_snapshots() */
static enum store_result read_snapshots(struct decision *d, instant deleted,
                                        struct share_snapshots *ret_snapshots)
{
    struct scan *scan = share_scan_snapshots(d->before, d->arena, deleted);
    struct share_snapshots all = { .count = 0 };
    struct record record;
    struct share_key key;
    enum store_result result;

    all.shares = arena_array(d->arena, SHARE_SNAPSHOTS_MAX, sizeof all.shares[0]);
    all.dates = arena_array(d->arena, SHARE_SNAPSHOTS_MAX, sizeof all.dates[0]);
    while (!(result = scan_next(scan, d->arena, &record))) {
        if (all.count == SHARE_SNAPSHOTS_MAX ||
            !share_decode(record.key, record.value, &all.shares[all.count], &key)) {
            result = STORE_CORRUPT;
            break;
        }
        all.dates[all.count++] = key.snapshot;
    }
    scan_close(scan);
    *ret_snapshots = all;
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

/* Moves the records of a share and its snapshots to other keys, without their leases. */
static void move_records(struct decision *d, struct share *share, struct share_snapshots *snapshots,
                         instant from, instant to)
{
    for (size_t i = 0; i < snapshots->count; i++) {
        struct share *snapshot = &snapshots->shares[i];
        instant date = snapshots->dates[i];

        snapshot->lease = (struct lease){ .kind = 0 };
        snapshot->expires = share->expires;
        share_delete_record(d->changes, d->arena, (struct share_key){ from, date });
        share_write(d->changes, d->arena, (struct share_key){ to, date }, snapshot);
    }
    share->lease = (struct lease){ .kind = 0 };
    share->etag = d->subject.etag = etag_after(share->etag, d->now);
    share->modified = d->subject.modified = d->now;
    share_delete_record(d->changes, d->arena, (struct share_key){ .deleted = from });
    share_write(d->changes, d->arena, (struct share_key){ .deleted = to }, share);
}

static void delete_records(struct decision *d, const struct share_snapshots *snapshots,
                           instant deleted)
{
    for (size_t i = 0; i < snapshots->count; i++)
        share_delete_record(d->changes, d->arena,
                            (struct share_key){ deleted, snapshots->dates[i] });
    share_delete_record(d->changes, d->arena, (struct share_key){ .deleted = deleted });
}

/* ---- Delete Share ---- */

/* Checks that the snapshots may be deleted. Returns OK, E_ShareHasSnapshots, E_LeaseIdMissing
 * (of a snapshot). */
static enum error check_snapshots(const struct decision *d, enum delete_snapshots asked,
                                  const struct share_snapshots *snapshots)
{
    enum error e = snapshots->count > 0 && asked == SNAPSHOTS_REFUSED ? E_ShareHasSnapshots : OK;

    for (size_t i = 0; i < snapshots->count && !e && asked == SNAPSHOTS_DELETED; i++)
        e = lease_check_write(LEASE_OF_SHARE, &snapshots->shares[i].lease, NULL, d->now);
    return e;
}

/* Deletes one snapshot of a share. Data that only this snapshot retained is collected later. */
static enum error delete_snapshot(struct decision *d)
{
    uint64_t generation = file_state(d)->share.generation;
    struct share share;
    struct tree tree;
    enum store_result result = share_read(d->before, d->arena, share_itself, &share);

    if (result)
        return decision_fail_store(d, result == STORE_NOT_FOUND ? STORE_CORRUPT : result);
    if (tree_open(&tree, d, share.space, TREE_CASE_IGNORED) ||
        tree_snapshot_delete(&tree, generation, TASK_COLLECT_SNAPSHOTS))
        return decision_fail_store(d, tree.failed);
    share_delete_record(d->changes, d->arena, share_snapshot_key(file_requested(d)->snapshot));
    if (share.snapshots > 0)
        share.snapshots--;
    share_write(d->changes, d->arena, share_itself, &share);
    return OK;
}

static enum error keep_deleted(struct decision *d, struct share_snapshots *snapshots, uint32_t days)
{
    struct share share = file_state(d)->share;
    struct tree tree;
    char payload[8];

    if (tree_open(&tree, d, share.space, TREE_CASE_IGNORED))
        return decision_fail_store(d, tree.failed);
    decision_read_clock(d);
    tree_close(&tree);
    be64_put(payload, d->now);
    share.expires = d->now + days * TICKS_PER_DAY;
    share.task = changes_defer(d->changes, share.expires, TASK_EXPIRE_SHARE,
                               bytes_of(payload, sizeof payload));
    move_records(d, &share, snapshots, 0, d->now);
    return OK;
}

/* Deletes a share and its snapshots, or soft-deletes them, in one commit. Does nothing if the
 * share was deleted recently.
 *
 * returns OK, E_ShareHasSnapshots, E_LeaseIdMissing (of a snapshot)
 * rest: Delete-Share; decision: 62 */
enum error delete_share_decide(struct decision *d, const struct delete_share_parameters *p,
                               struct delete_share_result *r)
{
    struct share_snapshots snapshots;
    enum store_result result;
    struct service_properties properties;
    struct waiter_key all = { .node = WAITING_ALL_NODES };
    uint32_t days;
    enum error e;

    (void)r;
    if (file_requested(d)->snapshot > 0)
        return delete_snapshot(d);
    if (!d->subject.exists)
        return OK;
    result = read_snapshots(d, 0, &snapshots);
    if (result)
        return decision_fail_store(d, result);
    e = check_snapshots(d, p->snapshots, &snapshots);
    if (e)
        return e;
    result = service_properties_guard(d, "file", &properties);
    if (result)
        return decision_fail_store(d, result);
    days = properties.share_retention_days;
    decision_read_clock(d);
    if (days > 0) {
        e = keep_deleted(d, &snapshots, days);
    } else {
        delete_records(d, &snapshots, 0);
        changes_drop_space(d->changes, file_state(d)->share.space);
        result = placement_deleted(d);
        e = result ? decision_fail_store(d, result) : OK;
    }
    if (e)
        return e;
    all.space = file_state(d)->share.space;
    decision_wakes(d, &all); /* decision: 1060 */
    recent_deletion_write(d->changes, d->arena, d->now);
    return OK;
}

/* ---- Restore Share ---- */

/* Restores a soft-deleted share with its contents and snapshots, but without leases.
 *
 * returns OK, E_ShareAlreadyExists, E_ShareNotFound
 * rest: Restore-Share; Azure's delay of 30 seconds after the deletion is not needed (decision:
 * 13) */
enum error restore_share_decide(struct decision *d, const struct restore_share_parameters *p,
                                struct restore_share_result *r)
{
    struct share share;
    struct share_snapshots snapshots;
    struct tree tree;
    enum store_result result = share_read(d->before, d->arena, share_itself, &share);

    (void)r;
    if (!result)
        return E_ShareAlreadyExists;
    if (result == STORE_NOT_FOUND)
        result =
            share_read(d->before, d->arena, (struct share_key){ .deleted = p->deleted }, &share);
    if (!result && share.expires <= d->now)
        return E_ShareNotFound;
    if (!result)
        result = read_snapshots(d, p->deleted, &snapshots);
    if (!result && tree_reopen(&tree, d, share.space, TREE_CASE_IGNORED))
        result = tree.failed;
    if (result == STORE_NOT_FOUND)
        return placement_missing(d, d->before, E_ShareNotFound);
    if (result)
        return decision_fail_store(d, result);
    decision_read_clock(d);
    changes_task_done(d->changes,
                      &(struct deferred_task){ .due = share.expires, .id = share.task });
    share.expires = 0;
    share.task = (struct guid){ .b = { 0 } };
    move_records(d, &share, &snapshots, p->deleted, 0);
    return OK;
}

/* ---- deferred tasks ---- */

enum store_result expire_share(struct decision *d, const struct deferred_task *task,
                               const struct endpoint *endpoint)
{
    struct share_snapshots snapshots;
    struct share share;
    enum store_result result;
    instant deleted;

    (void)endpoint;
    if (task->payload.len != sizeof deleted)
        return record_is_unknown("a task of a deleted share", task->payload);
    deleted = be64_get(task->payload.ptr);
    result = share_read(d->before, d->arena, (struct share_key){ .deleted = deleted }, &share);
    if (result == STORE_NOT_FOUND)
        return STORE_OK; /* already restored */
    if (!result)
        result = read_snapshots(d, deleted, &snapshots);
    if (result)
        return result;
    delete_records(d, &snapshots, deleted);
    changes_drop_space(d->changes, share.space);
    return placement_deleted(d);
}

enum store_result collect_snapshots(struct decision *d, const struct deferred_task *task,
                                    const struct endpoint *endpoint)
{
    (void)endpoint;
    return tree_collect(d, task, TREE_CASE_IGNORED, file_forget);
}
