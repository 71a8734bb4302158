/* Put Blob: creates a block blob, or replaces one, from the bytes of one request. */
#include "blob/create_blob.h"

/* The most bytes of one Put Blob, by version; the row holds the first. rest: Put-Blob "Remarks" */
static const struct size_limit limits[] = {
    { "2019-12-12", UINT64_C(5000) << 20 },
    { "2016-05-31", UINT64_C(256) << 20 },
    { "", UINT64_C(64) << 20 },
};

/* rest: Put-Blob */
enum error check_put_blob(struct decision *d)
{
    struct create_blob *given = arena_alloc(d->arena, sizeof *given);
    enum error e;

    e = blob_check_size(d, limits, d->call->request->content_length);
    if (e)
        return e;
    e = create_blob_check(d, STANDARD_USED, SUMS_OF_BLOB, given);
    if (e)
        return e;
    d->call->parameters = given;
    return OK;
}

/* The blob's MD5 is computed and stored; one that was sent as a property must be the same. */
enum error put_blob(struct decision *d)
{
    const struct create_blob *given = d->call->parameters;
    const struct body *body = &d->call->body;
    struct blob blob;
    enum error e;

    e = blob_check_size(d, limits, body->length);
    if (e)
        return e;
    if (given->http.has_md5 && memcmp(given->http.md5, body->md5, sizeof body->md5) != 0)
        return fail_sum(d, E_Md5Mismatch, given->http.md5, body->md5, sizeof body->md5);
    e = create_blob_begin(d, given, &blob);
    if (e)
        return e;
    blob.http.has_md5 = true;
    memcpy(blob.http.md5, body->md5, sizeof body->md5);
    blob.content = content_from_body(d->changes, blob.etag.v, body);
    return create_blob_commit(d, given, &blob);
}
