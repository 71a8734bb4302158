/* Get Blob Metadata and Set Blob Metadata as requests and answers. */
#include "blob/rest/request.h"

#include "service/metadata.h"

enum error get_blob_metadata_check(struct call *call, struct get_blob_metadata_parameters *p)
{
    (void)p;
    return blob_refuse_unbuilt(call, REQUEST_READ);
}

/* rest: Get-Blob-Metadata */
void get_blob_metadata_answer(struct answer *a, const struct get_blob_metadata_parameters *p,
                              const struct get_blob_metadata_result *r)
{
    (void)p;
    answer_status(a, 200);
    answer_etag(a, r->etag, r->modified);
    metadata_answer(a, r->metadata);
}

enum error set_blob_metadata_check(struct call *call, struct set_blob_metadata_parameters *p)
{
    enum error e = blob_refuse_unbuilt(call, REQUEST_CHANGE);

    return e ? e : metadata_from_headers(call, &p->metadata);
}

/* rest: Set-Blob-Metadata */
void set_blob_metadata_answer(struct answer *a, const struct set_blob_metadata_parameters *p,
                              const struct set_blob_metadata_result *r)
{
    (void)p;
    answer_status(a, 200);
    answer_etag(a, r->etag, r->modified);
    blob_answer_encrypted(a);
}
