/* Get Blob Metadata and Set Blob Metadata. */
#include "blob/blob_request.h"

enum error check_get_blob_metadata(struct decision *d)
{
    return blob_refuse_unbuilt(d, REQUEST_READ);
}

/* rest: Get-Blob-Metadata */
enum error get_blob_metadata(struct decision *d)
{
    const struct blob *blob = &blob_state(d)->blob;

    answer(d, 200);
    answer_etag(d, blob->etag, blob->modified);
    metadata_answer(d, blob->metadata);
    return OK;
}

enum error check_set_blob_metadata(struct decision *d)
{
    struct bytes *given = arena_alloc(d->arena, sizeof *given);
    enum error e;

    e = blob_refuse_unbuilt(d, REQUEST_CHANGE);
    if (e)
        return e;
    e = metadata_from_headers(d, given);
    if (e)
        return e;
    d->call->parameters = given;
    return OK;
}

/* Replaces all metadata of a blob, keeps its content. rest: Set-Blob-Metadata */
enum error set_blob_metadata(struct decision *d)
{
    struct blob blob;
    enum error e;

    e = blob_begin_change(d, &blob);
    if (e)
        return e;
    blob.metadata = *(const struct bytes *)d->call->parameters;
    blob_write(d->changes, d->arena, &blob);

    answer(d, 200);
    answer_etag(d, blob.etag, blob.modified);
    blob_answer_encrypted(d);
    return OK;
}
