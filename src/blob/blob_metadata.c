/* Get Blob Metadata and Set Blob Metadata. */
#include "blob/blob_operations.h"

/* rest: Get-Blob-Metadata */
enum error get_blob_metadata_decide(struct decision *d,
                                    const struct get_blob_metadata_parameters *p,
                                    struct get_blob_metadata_result *r)
{
    const struct blob *blob = &blob_state(d)->blob;

    (void)p;
    r->metadata = blob->metadata;
    r->etag = blob->etag;
    r->modified = blob->modified;
    return OK;
}

/* Replaces all metadata of a blob, keeps its content. rest: Set-Blob-Metadata */
enum error set_blob_metadata_decide(struct decision *d,
                                    const struct set_blob_metadata_parameters *p,
                                    struct set_blob_metadata_result *r)
{
    struct blob blob;
    enum error e = blob_begin_change(d, &blob);

    if (e)
        return e;
    blob.metadata = p->metadata;
    blob_write(d->changes, d->arena, &blob);
    r->etag = blob.etag;
    r->modified = blob.modified;
    return OK;
}
