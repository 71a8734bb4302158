/* Snapshot Blob: keeps the blob as it is now under a date and time of its own. */
#include "blob/blob_operations.h"
#include "blob/tier.h"

/* So many snapshots has a page blob ever had. */
#define EPOCH_MAX (UINT32_MAX - 2)

/* The content of the snapshot, which shares the bytes of *base; that is brought up to date. */
static enum error keep_content(struct decision *d, struct content *base, struct content *ret_kept)
{
    enum store_result result;

    if (base->form == CONTENT_SPARSE) {
        if (base->epoch == EPOCH_MAX)
            return E_SnapshotCountExceeded;
        *ret_kept = content_snapshot(d->changes, base);
        return OK;
    }
    result = content_ref(d->before, d->changes, d->arena, base);
    *ret_kept = *base;
    return result ? decision_fail_content(d, result) : OK;
}

/* Of the base nothing changes that anybody sees. A snapshot with metadata of its own has an ETag of
 * its own. rest: Snapshot-Blob; semantics 0.5, 5 */
enum error snapshot_blob_decide(struct decision *d, const struct snapshot_blob_parameters *p,
                                struct snapshot_blob_result *r)
{
    struct blob base = blob_state(d)->blob, snapshot;
    enum error e = blob_refuse_archived(&base);

    if (e)
        return e;
    base.without_snapshots = false;
    snapshot = base;
    e = keep_content(d, &base.content, &snapshot.content);
    if (e)
        return e;
    snapshot.ref = blob_snapshot_ref(d->now);
    snapshot.lease = (struct lease){ .kind = 0 };
    if (p->metadata.len > 0) {
        snapshot.metadata = p->metadata;
        snapshot.etag = d->subject.etag = etag_after(snapshot.etag, d->now);
        snapshot.modified = d->subject.modified = d->now;
    }
    blob_write(d->changes, d->arena, &snapshot);
    if (base.content.form == CONTENT_SPARSE || blob_state(d)->blob.without_snapshots ||
        base.content.is_alone != blob_state(d)->blob.content.is_alone)
        blob_write(d->changes, d->arena, &base);
    r->snapshot = d->now;
    return OK;
}
