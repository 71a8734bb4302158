/* What is soft-deleted: blobs that were deleted or overwritten, snapshots, and how they come back or go.
 * rest: Delete-Blob, Undelete-Blob, "Soft delete for blobs"; decision: 790 */
#include <string.h>

#include "model_private.h"
#include "times.h"
#include "world.h"

/* Of something that is kept: nobody sees it any more, and nobody may be told so late that it is there. */
#define FORGOTTEN_TICKS                                                                            \
    (world->plan.faults & FAULT_LATENCY ? UINT64_C(600000000) : UINT64_C(20000000))

bool rule_is_kept(const struct run *run, uint64_t expires)
{
    uint64_t now = run->doubt.kept.now;

    return expires > (now > 0 ? now : kept_latest());
}

unsigned rule_live_snapshots(const struct blob_state *b)
{
    unsigned live = 0;

    for (unsigned i = 0; i < b->snapshot_count; i++)
        live += b->snapshots[i].expires == 0 && !b->snapshots[i].is_version;
    return live;
}

static void remove_snapshot(struct blob_state *b, unsigned i)
{
    memcpy(b->gone, b->snapshots[i].time->snapshot, sizeof b->gone);
    memmove(&b->snapshots[i], &b->snapshots[i + 1],
            (b->snapshot_count - i - 1) * sizeof b->snapshots[0]);
    b->snapshot_count--;
}

static void delete_one(struct run *run, struct blob_state *b, unsigned i)
{
    memcpy(b->gone, b->snapshots[i].time->snapshot, sizeof b->gone);
    if (run->doubt.kept.expires > 0)
        b->snapshots[i].expires = run->doubt.kept.expires;
    else
        remove_snapshot(b, i);
}

static bool is_nothing(const struct blob_state *b)
{
    return !b->exists && b->expires == 0 && b->snapshot_count == 0 && b->staged_count == 0;
}

/* The current version has no other name than the blob's. */
static void refuse_current(struct run *run)
{
    if (!run->ask->is_permanent)
        rule_refuse(run, 403, "OperationNotAllowedOnRootBlob");
    else if (!run->doubt.kept.allows_permanent)
        rule_refuse(run, 409, "PermanentDeleteIsOff");
    else
        rule_refuse(run, 409, "BlobSnapshotNotSoftDeleted");
}

void rule_delete_snapshot(struct run *run)
{
    struct blob_state *b = &run->out->blob;
    unsigned i;

    if (!run->out->snapshot) {
        refuse_current(run);
        return;
    }
    i = (unsigned)(run->out->snapshot - b->snapshots);
    if (!run->ask->is_permanent) {
        delete_one(run, b, i);
    } else if (!run->doubt.kept.allows_permanent) {
        rule_refuse(run, 409, "PermanentDeleteIsOff");
        return;
    } else if (b->snapshots[i].expires == 0) {
        rule_refuse(run, 409, "BlobSnapshotNotSoftDeleted");
        return;
    } else if (!rule_check_deletion(run)) {
        return;
    } else {
        remove_snapshot(b, i);
    }
    if (is_nothing(b))
        b->newest_version = 0;
    rule_succeed(run, 202, true);
}

/* What is kept of the name stays so. */
static void end_base(struct blob_state *b)
{
    struct blob_state rest = { .incarnation = b->incarnation,
                               .snapshot_count = b->snapshot_count,
                               .newest_version = b->snapshot_count > 0 ? b->newest_version : 0,
                               .last_stamp = b->last_stamp,
                               .last_length = b->last_length };

    if (b->exists || b->expires > 0) {
        rest.last_stamp = b->stamp;
        rest.last_length = contents_length(&b->contents);
    }
    memcpy(rest.snapshots, b->snapshots, b->snapshot_count * sizeof b->snapshots[0]);
    memcpy(rest.gone, b->gone, sizeof rest.gone);
    *b = rest;
}

void rule_delete_base(struct run *run)
{
    struct blob_state *b = &run->out->blob;
    unsigned live = rule_live_snapshots(b);

    if (run->ask->delete_mode == DELETE_BASE && live > 0) {
        rule_refuse(run, 409, "SnapshotsPresent");
        return;
    }
    for (unsigned i = b->snapshot_count; i-- > 0;)
        if (b->snapshots[i].expires == 0 && !b->snapshots[i].is_version)
            delete_one(run, b, i);
    rule_succeed(run, 202, run->ask->delete_mode != DELETE_ONLY || live > 0);
    if (run->ask->delete_mode == DELETE_ONLY)
        return;
    if (b->exists && (run->doubt.kept.is_versioned || b->version > 0)) {
        rule_delete_to_version(run);
        return;
    }
    if (!b->exists || run->doubt.kept.expires == 0) {
        end_base(b);
        return;
    }
    b->exists = false;
    b->expires = run->doubt.kept.expires;
    b->staged_count = 0;
    memset(&b->lease, 0, sizeof b->lease);
}

/* The base as it is becomes a snapshot of now, which is soft-deleted. */
static void keep_base(struct run *run, uint64_t expires)
{
    struct snapshot_state *kept = rule_add_state(run, run->doubt.kept.now);

    kept->expires = expires;
    if (!kept_has_versions())
        kept->at = 0;
}

static bool is_kept_still(const struct run *run)
{
    const struct blob_state *b = &run->out->blob;

    return b->expires > 0 && rule_is_kept(run, b->expires);
}

/* In the place of what is soft-deleted, or of nothing. */
static void take_place(struct run *run, bool is_same, bool of_any_kind)
{
    struct blob_state *b = &run->out->blob;
    bool is_there = is_kept_still(run);
    uint64_t expires = b->expires, anew = run->doubt.kept.expires;

    if (expires > 0) {
        b->last_stamp = b->stamp;
        b->last_length = contents_length(&b->contents);
    }
    if (is_there && !of_any_kind && !is_same)
        b->snapshot_count = 0;
    else if (is_there)
        keep_base(run, anew > 0 ? anew : expires);
    if (!is_there || !is_same)
        b->tier = AT_INFERRED;
    b->tag = 0; /* of uncommitted blocks; others set theirs */
    b->expires = 0;
}

bool rule_make_way(struct run *run, enum blob_kind kind)
{
    struct blob_state *b = &run->out->blob;
    bool existed = b->exists, is_same = b->contents.kind == kind, keeps;

    if (!rule_begin_version(run, kind, &keeps))
        return false;
    if (!existed) {
        take_place(run, is_same, false);
        return true;
    }
    if (!keeps && run->doubt.kept.expires > 0)
        keep_base(run, run->doubt.kept.expires);
    if (!is_same)
        b->tier = AT_INFERRED;
    return true;
}

bool rule_make_place(struct run *run)
{
    if (!rule_check_versions(run, KIND_BLOCKS))
        return false;
    take_place(run, run->out->blob.contents.kind == KIND_BLOCKS, true);
    return true;
}

void rule_replace_by_copy(struct run *run)
{
    if (run->out->blob.version == 0 && run->doubt.kept.expires > 0)
        keep_base(run, run->doubt.kept.expires);
}

void rule_undelete(struct run *run)
{
    struct blob_state *b = &run->out->blob;
    bool changes = false;

    run->out->stamp = NULL;
    for (unsigned i = 0; i < b->snapshot_count; i++)
        if (b->snapshots[i].expires > 0 && rule_is_kept(run, b->snapshots[i].expires)) {
            b->snapshots[i].expires = 0;
            changes = true;
        }
    if (b->expires > 0 && rule_is_kept(run, b->expires)) {
        b->exists = true;
        b->expires = 0;
        changes = true;
    }
    if (changes || b->exists)
        rule_succeed(run, 200, changes);
    else
        rule_refuse(run, 404, "BlobNotFound");
}

void rule_forget_expired(struct blob_state *b, uint64_t latest)
{
    for (unsigned i = b->snapshot_count; i-- > 0;)
        if (b->snapshots[i].expires > 0 && b->snapshots[i].expires + FORGOTTEN_TICKS < latest)
            remove_snapshot(b, i);
    if (b->expires > 0 && b->expires + FORGOTTEN_TICKS < latest)
        end_base(b);
    if (is_nothing(b))
        b->newest_version = 0;
}
