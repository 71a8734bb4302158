/* See keep_blob.h. */
#include "blob/keep_blob.h"

#include "blob/contents.h"
#include "blob/snapshot_changes.h"

/* So many snapshots has a page blob ever had. */
#define EPOCH_MAX (UINT32_MAX - 2)

/* begin_pending() of copy_blob.c makes both instants one, and nothing changes them while it is pending. */
bool is_place_of_copy(const struct blob *blob)
{
    return blob->copy.status == COPY_PENDING && blob->created == blob->modified;
}

/* Makes a snapshot of the base *was, whose record the caller replaces. Its content is the snapshot's from now on. */
static enum error write_snapshot(struct decision *d, const struct blob *was,
                                 const struct blob_deletion *deletion)
{
    struct blob snapshot = *was;
    struct content newest = was->content;

    snapshot.ref = blob_snapshot_ref(d->now);
    snapshot.deletion = *deletion;
    snapshot.lease = (struct lease){ .kind = 0 };
    snapshot.nothing_staged = true;
    snapshot.without_snapshots = snapshot.has_deleted = false;
    if (snapshot.copy.status == COPY_PENDING)
        snapshot.copy = (struct copy_state){ .status = COPY_NONE };
    if (newest.form == CONTENT_SPARSE) {
        if (newest.epoch == EPOCH_MAX)
            return E_SnapshotCountExceeded;
        snapshot.content = content_snapshot(d->changes, &newest);
        content_newest_delete(d->changes, &newest, &d->leaves_more);
    }
    blob_write(d->changes, d->arena, &snapshot);
    expire_deleted_defer(d->changes, deletion, snapshot.ref.at, snapshot.ref.at);
    return OK;
}

enum error keep_overwritten(struct decision *d, struct blob *blob,
                            const struct named_blocks *blocks, const struct retention *retention)
{
    const struct blob_deletion deletion = retention_deletion(d, retention);
    struct blob was = blob_state(d)->blob;

    if (was.content.form == CONTENT_SEQUENCE)
        content_share(d->changes, d->arena, &was.content, &blob->content,
                      blocks ? blocks->named : NULL, blocks ? blocks->named_count : 0);
    blob->has_deleted = true;
    return write_snapshot(d, &was, &deletion);
}

/* Of another type: all of it goes. rest: "Soft delete for blobs", table of operations */
static enum error end_all(struct decision *d, struct blob *blob)
{
    struct ended_contents ended = { .count = 0 };
    struct snapshots_changed changed;
    enum store_result result;
    enum error e = OK;

    if (blob_state(d)->blob.has_deleted)
        e = snapshots_change(d, MARK_GONE, 0, &ended, &changed);
    if (e)
        return e;
    contents_end(d, &ended, &blob_state(d)->blob);
    result = contents_unref(d, &ended, NULL);
    blob->has_deleted = false;
    return result ? decision_fail_content(d, result) : OK;
}

enum error keep_undeleted(struct decision *d, struct blob *blob, bool any_type,
                          struct bytes account)
{
    const struct blob *was = &blob_state(d)->blob;
    struct blob_deletion deletion = was->deletion;
    struct retention retention;
    enum store_result result;

    if (!any_type && was->type != blob->type && deletion.expires > d->now)
        return end_all(d, blob);
    result = retention_find(d, account, &retention);
    if (result)
        return decision_fail_store(d, result);
    if (retention.expires > 0 && deletion.expires > d->now)
        deletion = retention_deletion(d, &retention);
    blob->has_deleted = true;
    return write_snapshot(d, was, &deletion);
}
