/* Snapshot Blob: keeps the blob as it is now under a date and time of its own. */
#include "blob/blob_operations.h"

/* The snapshot shares the content of the base; of the base itself nothing changes that anybody
 * sees. One with metadata of its own has an ETag of its own. rest: Snapshot-Blob;
 * semantics 0.5, 5 */
enum error snapshot_blob_decide(struct decision *d, const struct snapshot_blob_parameters *p,
                                struct snapshot_blob_result *r)
{
    struct blob base = blob_state(d)->blob, snapshot;
    enum store_result result;

    if (base.tier == TIER_ARCHIVE)
        return E_BlobArchived;
    result = content_hold(d->before, d->changes, d->arena, &base.content);
    if (result)
        return blob_fail_content(d, result);
    snapshot = base;
    snapshot.snapshot = d->now;
    snapshot.lease = (struct lease){ .kind = 0 };
    if (p->metadata.len > 0) {
        snapshot.metadata = p->metadata;
        snapshot.etag = etag_after(snapshot.etag, d->now);
        snapshot.modified = d->now;
    }
    blob_write(d->changes, d->arena, &snapshot);
    if (base.content.is_alone != blob_state(d)->blob.content.is_alone)
        blob_write(d->changes, d->arena, &base);
    r->snapshot = snapshot.snapshot;
    r->etag = snapshot.etag;
    r->modified = snapshot.modified;
    return OK;
}
