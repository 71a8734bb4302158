/* Get Blob Properties and Set Blob Properties. */
#include "blob/blob_operations.h"

/* rest: Get-Blob-Properties */
enum error get_blob_properties_decide(struct decision *d,
                                      const struct get_blob_properties_parameters *p,
                                      struct get_blob_properties_result *r)
{
    (void)p;
    r->blob = blob_state(d)->blob;
    return OK;
}

/* Sets all HTTP properties together: one that was not sent is cleared. rest: Set-Blob-Properties */
enum error set_blob_properties_decide(struct decision *d,
                                      const struct set_blob_properties_parameters *p,
                                      struct set_blob_properties_result *r)
{
    struct blob blob;
    enum error e;

    if (p->of_page_blob)
        return E_InvalidBlobType; /* every blob here is a block blob */
    e = blob_begin_change(d, &blob);
    if (e)
        return e;
    blob.http = p->http;
    blob_write(d->changes, d->arena, &blob);
    r->etag = blob.etag;
    r->modified = blob.modified;
    return OK;
}
