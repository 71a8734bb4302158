/* Changes of blobs, snapshots and versions. */
#include "blob/blob.h"
#include "blob/tag_index.h"

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
