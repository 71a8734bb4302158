/* Changes of blobs, snapshots and versions. */
#include "blob/blob.h"
#include "blob/tag_index.h"
#include "blob/tier.h"

/* Returns the tags by which searches find the blob. */
static struct bytes indexed_tags(const struct blob *blob)
{
    if (!blob || !blob_ref_is_base(blob->ref) || blob->uncommitted || blob->deletion.at > 0)
        return bytes_of(NULL, 0);
    return blob->tags;
}

void blob_change(struct decision *d, const struct blob *was, const struct blob *now)
{
    tag_index_update(d->changes, d->arena, indexed_tags(was), indexed_tags(now));
    if (now)
        blob_write(d->changes, d->arena, now);
    else
        changes_delete(d->changes, RECORD_LISTED, blob_record_key(d->arena, was->ref));
}

enum error blob_begin_change(struct decision *d, struct blob *ret_blob)
{
    struct blob blob = blob_state(d)->blob;
    enum error e = blob_refuse_archived(&blob);

    if (e)
        return e;
    blob.etag = d->subject.etag = etag_after(blob.etag, d->now);
    blob.modified = d->subject.modified = d->now;
    lease_forget_if_ended(&blob.lease, d->now);
    *ret_blob = blob;
    return OK;
}
