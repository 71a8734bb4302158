/* Incremental Copy Blob: copies a snapshot of a page blob to a snapshot of the destination, by the
 * differences from the one copied before. The destination itself is never read: its content
 * receives the differences, and is undefined (is_whole) in the meantime.
 * rest: Incremental-Copy-Blob */
#include "blob/incremental_copy.h"

#include "blob/create_blob.h"
#include "blob/encryption.h"
#include "blob/keep_blob.h"

/* Maximum number of snapshots created in the lifetime of a page blob. */
#define EPOCH_MAX (UINT32_MAX - 2)

/* Checks that this snapshot may be copied to the destination.
 *
 * Returns IncrementalCopyBlobMismatch, IncrementalCopyOfEarlierSnapshotNotAllowed. */
static enum error check_destination(struct decision *d,
                                    const struct incremental_copy_blob_parameters *p)
{
    const struct blob *was = &blob_state(d)->blob;

    if (!d->subject.exists)
        return OK;
    if (!was->incremental.is_one || !bytes_equal(was->incremental.source, p->path))
        return E_IncrementalCopyBlobMismatch;
    if (p->source_blob.ref.at < was->incremental.source_snapshot)
        return E_IncrementalCopyOfEarlierSnapshotNotAllowed;
    if (was->content.epoch >= EPOCH_MAX)
        return E_SnapshotCountExceeded;
    return encryption_check(d, &was->encryption); /* its snapshots share pieces */
}

/* Prepares the content that receives the differences: that of the snapshot copied before, or
 * zeros. */
static enum error begin_content(struct decision *d, bool goes_on, uint64_t length,
                                struct blob *blob)
{
    enum store_result result = STORE_OK;

    if (goes_on) {
        result = content_resize(d->before, d->changes, d->arena, &blob->content, blob->etag.v,
                                length, &d->leaves_more);
    } else {
        if (d->subject.exists)
            content_newest_delete(d->changes, &blob->content, &d->leaves_more);
        blob->content = content_sparse(blob->etag.v, length);
    }
    return result ? decision_fail_content(d, result) : OK;
}

/* Returns the future snapshot, without its content. */
static enum error make_target(struct decision *d, const struct incremental_copy_blob_parameters *p,
                              struct blob *ret_target)
{
    const struct create_blob given = { .http = p->source_blob.http,
                                       .metadata = p->source_blob.metadata };
    enum error e = create_blob_begin(d, BLOB_PAGE, &given, ret_target);

    ret_target->sequence_number = p->source_blob.sequence_number;
    if (blob_state(d)->found || blob_state(d)->is_kept)
        ret_target->newest_version = blob_state(d)->blob.newest_version;
    ret_target->incremental = (struct incremental_copy){
        .is_one = true,
        .source = p->path,
        .source_snapshot = p->source_blob.ref.at,
    };
    return e;
}

/* Makes a new destination a version if versioning is on. Its id never changes, because its
 * snapshots retain what later copies overwrite (recorded: the id of the first copy). decision:
 * 100 */
static enum error version_first(struct decision *d, struct blob *blob)
{
    struct retention retention;
    struct version_change change;
    enum store_result result = retention_find(d, d->input->account, &retention);
    enum error e =
        result ? decision_fail_store(d, result) : version_plan(d, &retention, BLOB_PAGE, &change);

    if (!e)
        version_give(d, &change, blob);
    return e;
}

enum error incremental_copy_blob_decide(struct decision *d,
                                        const struct incremental_copy_blob_parameters *p,
                                        struct incremental_copy_blob_result *r)
{
    const struct blob *was = &blob_state(d)->blob;
    bool exists = d->subject.exists;
    struct pending_copy pending = {
        .source = p->pending,
        .account = d->input->account,
        .previous = exists && was->incremental.is_whole ? was->incremental.source_snapshot : 0,
    };
    struct blob blob;
    enum error e = check_destination(d, p);

    if (!e)
        e = make_target(d, p, &pending.target);
    if (e)
        return e;
    blob = exists ? *was : pending.target;
    if (!exists)
        e = version_first(d, &blob);
    if (e)
        return e;
    blob.etag = pending.target.etag;
    blob.modified = pending.target.modified;
    if (!exists)
        blob.incremental.source_snapshot = 0;
    blob.incremental.is_whole = false;
    blob.copy = (struct copy_state){ .status = COPY_PENDING,
                                     .id = p->id,
                                     .source = p->shown,
                                     .total = p->source_blob.content.length };
    if (blob_state(d)->is_kept)
        e = keep_undeleted(d, &blob, false, d->input->account);
    if (!e)
        e = begin_content(d, pending.previous != 0, p->source_blob.content.length, &blob);
    if (e)
        return e;
    blob_change(d, stored_blob(d), &blob);
    copy_defer(d, &pending);
    r->version = blob_version_id(&blob);
    return OK;
}

/* ---- end of the copy ---- */

void incremental_copy_complete(struct decision *d, const struct blob *target)
{
    struct blob base = *target, snapshot;

    base.content = blob_state(d)->blob.content;
    base.copy.copied = base.copy.total = base.content.length;
    base.incremental.is_whole = true;
    base.incremental.snapshot = d->now;
    base.without_snapshots = false;
    snapshot = keep_record(&base, blob_snapshot_ref(d->now));
    snapshot.content = content_snapshot(d->changes, &base.content);
    blob_change(d, NULL, &snapshot);
    blob_change(d, &blob_state(d)->blob, &base);
}

void incremental_copy_end(struct decision *d, const struct blob *target)
{
    struct blob base = blob_state(d)->blob;

    content_newest_delete(d->changes, &base.content, &d->leaves_more);
    base.content = content_sparse(target->etag.v, 0);
    base.etag = target->etag;
    base.modified = target->modified;
    base.copy = target->copy;
    blob_change(d, &blob_state(d)->blob, &base);
}
