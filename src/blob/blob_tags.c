/* Get Blob Tags, Set Blob Tags. */
#include "blob/tag_operations.h"

/* Also works for snapshots, versions and archived blobs. rest: Get-Blob-Tags */
enum error get_blob_tags_decide(struct decision *d, const struct get_blob_tags_parameters *p,
                                struct get_blob_tags_result *r)
{
    (void)p;
    r->tags = blob_state(d)->blob.tags;
    return OK;
}

/* Replaces all tags. ETag and Last-Modified do not change, and the blob may be archived.
 * rest: Set-Blob-Tags */
enum error set_blob_tags_decide(struct decision *d, const struct set_blob_tags_parameters *p,
                                struct set_blob_tags_result *r)
{
    struct blob blob = blob_state(d)->blob;

    (void)r;
    blob.tags = p->tags;
    blob_change(d, &blob_state(d)->blob, &blob);
    return OK;
}
