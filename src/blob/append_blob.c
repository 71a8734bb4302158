/* Append blobs: Put Blob that creates one, Append Block, also From URL, Append Blob Seal. */
#include "blob/create_blob.h"

/* Creates an empty append blob. rest: Put-Blob */
enum error create_append_blob_decide(struct decision *d,
                                     const struct create_append_blob_parameters *p,
                                     struct create_append_blob_result *r)
{
    struct blob blob;
    enum error e = create_blob_begin(d, BLOB_APPEND, &p->create, &blob);

    if (e)
        return e;
    e = create_blob_commit(d, &blob, NULL, d->input->account);
    r->version = blob_version_id(&blob);
    return e;
}

/* ---- Append Block ---- */

static enum error check_conditions(const struct append_block_parameters *p, uint64_t length,
                                   uint64_t added)
{
    if (p->has_position && p->position != length)
        return E_AppendPositionConditionNotMet;
    if (p->has_size_max && (length > p->size_max || added > p->size_max - length))
        return E_MaxBlobSizeConditionNotMet;
    return OK;
}

/* Returns InvalidBlobType, BlobIsSealed, AppendPositionConditionNotMet, MaxBlobSizeConditionNotMet,
 * BlockCountExceedsLimit. rest: Append-Block */
enum error append_block_decide(struct decision *d, const struct append_block_parameters *p,
                               struct append_block_result *r)
{
    const struct body *body = &d->input->body;
    struct blob blob = blob_state(d)->blob;
    enum error e;

    if (blob.type != BLOB_APPEND)
        return E_InvalidBlobType;
    if (blob.is_sealed)
        return E_BlobIsSealed;
    e = check_conditions(p, blob.content.length, body->length);
    if (e)
        return e;
    if (blob.committed_blocks == APPENDED_BLOCKS_MAX)
        return E_BlockCountExceedsLimit;
    e = blob_begin_change(d, &blob);
    if (e)
        return e;
    r->offset = blob.content.length;
    content_append(d->changes, blob.etag.v, &blob.content, body);
    r->committed_blocks = ++blob.committed_blocks;
    blob_change(d, &blob_state(d)->blob, &blob);
    return OK;
}

/* ---- Append Blob Seal ---- */

/* Sealing a sealed blob succeeds and changes the ETag again. rest: Append-Blob-Seal;
 * decision: 77 */
enum error seal_append_blob_decide(struct decision *d, const struct seal_append_blob_parameters *p,
                                   struct seal_append_blob_result *r)
{
    struct blob blob;
    enum error e = blob_begin_change(d, &blob);

    (void)r;
    if (blob_state(d)->blob.type != BLOB_APPEND)
        return E_InvalidBlobType;
    if (e)
        return e;
    if (p->has_position && p->position != blob.content.length)
        return E_AppendPositionConditionNotMet;
    blob.is_sealed = true;
    blob_change(d, &blob_state(d)->blob, &blob);
    return OK;
}
