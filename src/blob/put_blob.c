/* Put Blob: creates or replaces a block blob with the bytes of one request. rest: Put-Blob. Put
 * Blob From URL: with bytes that were gathered. */
#include "blob/create_blob.h"

/* Computes and stores the MD5. */
enum error put_blob_decide(struct decision *d, const struct put_blob_parameters *p,
                           struct put_blob_result *r)
{
    const struct body *body = &d->input->body;
    struct blob blob;
    enum error e = create_blob_begin(d, BLOB_BLOCK, &p->create, &blob);

    if (e)
        return e;
    blob.http.has_md5 = true;
    blob.http.md5_size = sizeof body->md5;
    memcpy(blob.http.md5, body->md5, sizeof body->md5);
    blob.content = content_from_body(d->changes, blob.etag.v, body);
    e = create_blob_commit(d, &blob, NULL, d->input->account);
    r->version = blob_version_id(&blob);
    return e;
}
