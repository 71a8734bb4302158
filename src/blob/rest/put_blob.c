/* Put Blob as a request and as an answer. rest: Put-Blob */
#include "blob/rest/create_blob.h"

/* The most bytes of one Put Blob, by version; the row holds the first. rest: Put-Blob "Remarks" */
static const struct size_limit limits[] = {
    { "2019-12-12", UINT64_C(5000) << 20 },
    { "2016-05-31", UINT64_C(256) << 20 },
    { "", UINT64_C(64) << 20 },
};

enum error put_blob_check(struct call *call, struct put_blob_parameters *p)
{
    enum error e = blob_check_size(call, limits, call->request->content_length);

    if (!e)
        e = create_blob_check(call, STANDARD_USED, SUMS_OF_BLOB, &p->create);
    if (e || !p->create.http.has_md5)
        return e;
    /* It takes the place of Content-MD5, which then is not looked at. decision: 16 */
    call->ignores_md5 = true;
    return p->create.http.md5_size == MD5_SIZE ? OK : E_InvalidMd5;
}

/* An MD5 that was sent as a property must be that of the body. */
enum error put_blob_parse(struct call *call, struct put_blob_parameters *p)
{
    const struct http_properties *http = &p->create.http;
    const struct body *body = &call->input.body;
    enum error e = blob_check_size(call, limits, body->length);

    if (e)
        return e;
    if (http->has_md5 && memcmp(http->md5, body->md5, sizeof body->md5) != 0)
        return call_fail_sum(call, E_Md5Mismatch, http->md5, body->md5, sizeof body->md5);
    return OK;
}

void put_blob_answer(struct answer *a, const struct put_blob_parameters *p,
                     const struct put_blob_result *r)
{
    create_blob_answer(a, &p->create, r->etag, r->modified);
}
