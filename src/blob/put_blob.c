/* Put Blob: creates a block blob, or replaces one, from the bytes of one request. */
#include "blob/create_blob.h"

#include "base/encode.h"

/* rest: Put-Blob */
enum error check_put_blob(struct decision *d)
{
    struct create_blob *given = arena_alloc(d->arena, sizeof *given);
    struct bytes type = call_header(d->call, "x-ms-blob-type");
    enum error e;

    if (!type.ptr)
        return fail_header(d, E_MissingRequiredHeader, "x-ms-blob-type", type);
    if (!bytes_is(type, "BlockBlob"))
        return fail_header(d, E_InvalidHeaderValue, "x-ms-blob-type", type);
    e = create_blob_check(d, STANDARD_USED, SUMS_OF_BLOB, given);
    if (e)
        return e;
    d->call->wants_md5 = true;
    d->call->parameters = given;
    return OK;
}

static enum error fail_md5(struct decision *d, const uint8_t *given, const uint8_t *computed)
{
    d->error_fields[0].name = "UserSpecifiedMd5";
    d->error_fields[0].value = base64_encode(d->arena, bytes_of(given, 16));
    d->error_fields[1].name = "ServerCalculatedMd5";
    d->error_fields[1].value = base64_encode(d->arena, bytes_of(computed, 16));
    d->error_field_count = 2;
    return E_Md5Mismatch;
}

/* The blob's MD5 is computed and stored; one that was sent as a property must be the same. */
enum error put_blob(struct decision *d)
{
    const struct create_blob *given = d->call->parameters;
    const struct body *body = &d->call->body;
    struct blob blob;
    enum error e;

    if (given->http.has_md5 && memcmp(given->http.md5, body->md5, sizeof body->md5) != 0)
        return fail_md5(d, given->http.md5, body->md5);
    e = create_blob_begin(d, given, &blob);
    if (e)
        return e;
    blob.http.has_md5 = true;
    memcpy(blob.http.md5, body->md5, sizeof body->md5);
    blob.content = content_from_body(d->changes, blob.etag.v, body);
    return create_blob_commit(d, given, &blob);
}
