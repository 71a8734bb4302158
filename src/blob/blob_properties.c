/* Get and Set Blob Properties, Get and Set Blob Metadata. */
#include "blob/blob_operations.h"
#include "blob/version.h"

/* ---- properties ---- */

/* rest: Get-Blob-Properties */
enum error get_blob_properties_decide(struct decision *d,
                                      const struct get_blob_properties_parameters *p,
                                      struct get_blob_properties_result *r)
{
    (void)p;
    r->blob = blob_state(d)->blob;
    return OK;
}

/* Returns OK, E_SequenceNumberIncrementTooLarge. */
static enum error change_sequence_number(const struct set_blob_properties_parameters *p,
                                         struct blob *blob)
{
    switch (p->action) {
    case SEQUENCE_KEPT:
        break;
    case SEQUENCE_MAX:
        if (blob->sequence_number < p->sequence_number)
            blob->sequence_number = p->sequence_number;
        break;
    case SEQUENCE_UPDATE:
        blob->sequence_number = p->sequence_number;
        break;
    case SEQUENCE_INCREMENT:
        if (blob->sequence_number == SEQUENCE_NUMBER_MAX)
            return E_SequenceNumberIncrementTooLarge;
        blob->sequence_number++;
        break;
    }
    return OK;
}

static enum error change_page_blob(struct decision *d,
                                   const struct set_blob_properties_parameters *p,
                                   struct blob *blob)
{
    enum error e = change_sequence_number(p, blob);
    enum store_result result;

    if (e || !p->has_length)
        return e;
    result = content_resize(d->before, d->changes, d->arena, &blob->content, blob->etag.v,
                            p->length, &d->leaves_more);
    return result ? decision_fail_content(d, result) : OK;
}

/* Replaces all HTTP properties: those absent from the request are cleared. They are kept only if
 * the request has nothing but the size or sequence number of a page blob. rest: Set-Blob-Properties
 * "Remarks" */
enum error set_blob_properties_decide(struct decision *d,
                                      const struct set_blob_properties_parameters *p,
                                      struct set_blob_properties_result *r)
{
    struct blob blob;
    enum error e;

    r->is_page_blob = blob_state(d)->blob.type == BLOB_PAGE;
    if ((p->has_length || p->action != SEQUENCE_KEPT) && !r->is_page_blob)
        return E_InvalidBlobType;
    e = blob_begin_change(d, &blob);
    if (!e)
        e = change_page_blob(d, p, &blob);
    if (e)
        return e;
    if (!p->keeps_http)
        blob.http = p->http;
    blob.copy = (struct copy_state){ .status = COPY_NONE }; /* rest: Get-Blob-Properties */
    blob_change(d, &blob_state(d)->blob, &blob);
    r->sequence_number = blob.sequence_number;
    return OK;
}

/* ---- metadata ---- */

/* rest: Get-Blob-Metadata */
enum error get_blob_metadata_decide(struct decision *d,
                                    const struct get_blob_metadata_parameters *p,
                                    struct get_blob_metadata_result *r)
{
    const struct blob *blob = &blob_state(d)->blob;

    (void)p;
    r->metadata = blob->metadata;
    return OK;
}

/* Replaces all metadata of a blob and keeps its content. rest: Set-Blob-Metadata */
enum error set_blob_metadata_decide(struct decision *d,
                                    const struct set_blob_metadata_parameters *p,
                                    struct set_blob_metadata_result *r)
{
    struct blob blob;
    enum error e = blob_begin_change(d, &blob);

    if (!e)
        e = version_begin(d, d->input->account, &blob);
    if (e)
        return e;
    blob.metadata = p->metadata;
    blob_change(d, &blob_state(d)->blob, &blob);
    r->version = blob_version_id(&blob);
    return OK;
}
