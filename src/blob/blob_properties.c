/* Get Blob Properties and Set Blob Properties, and what reads of a blob say of it. */
#include "blob/blob_request.h"

#include "base/encode.h"

/* ---- what a read says of a blob ---- */

static void answer_instant(struct decision *d, const char *name, instant t)
{
    char text[INSTANT_HTTP_SIZE];

    instant_format_http(t, text);
    answer_header(d, name, arena_copy(d->arena, bytes_from_string(text)));
}

static void answer_if_set(struct decision *d, const char *name, struct bytes value)
{
    if (value.ptr)
        answer_header(d, name, value);
}

/* A snapshot has no lease: none of the lease headers, as recorded. */
static void answer_snapshot_or_lease(struct decision *d, const struct blob *blob)
{
    char text[INSTANT_ISO_SIZE];

    if (blob->snapshot == 0) {
        answer_lease(d, &blob->lease);
        return;
    }
    if (call_since(d->call, "2018-11-09")) {
        instant_format_iso(blob->snapshot, text);
        answer_header(d, "x-ms-snapshot", arena_copy(d->arena, bytes_from_string(text)));
    }
}

void blob_answer_properties(struct decision *d, const struct blob *blob)
{
    const struct http_properties *http = &blob->http;

    answer_if_set(d, "Content-Type", http->content_type);
    answer_if_set(d, "Content-Encoding", http->content_encoding);
    answer_if_set(d, "Content-Language", http->content_language);
    answer_if_set(d, "Content-Disposition", http->content_disposition);
    answer_if_set(d, "Cache-Control", http->cache_control);
    answer_etag(d, blob->etag, blob->modified);
    answer_string(d, "Accept-Ranges", "bytes");
    metadata_answer(d, blob->metadata);
    answer_string(d, "x-ms-blob-type", "BlockBlob");
    answer_snapshot_or_lease(d, blob);
    if (call_since(d->call, "2015-12-11"))
        answer_string(d, "x-ms-server-encrypted", "true");
    if (call_since(d->call, "2017-11-09"))
        answer_instant(d, "x-ms-creation-time", blob->created);
}

/* Snapshots have tiers of their own since 2019-12-12; recorded answers of earlier versions have
 * none. */
void blob_answer_tier(struct decision *d, const struct blob *blob)
{
    if (!call_since(d->call, blob->snapshot == 0 ? "2017-04-17" : "2019-12-12"))
        return;
    if (blob->tier == TIER_NONE) {
        answer_string(d, "x-ms-access-tier", access_tier_text(TIER_HOT));
        answer_string(d, "x-ms-access-tier-inferred", "true");
        return;
    }
    answer_string(d, "x-ms-access-tier", access_tier_text(blob->tier));
    answer_instant(d, "x-ms-access-tier-change-time", blob->tier_changed);
}

/* ---- Get Blob Properties ---- */

enum error check_get_blob_properties(struct decision *d)
{
    return blob_refuse_unbuilt(d, REQUEST_READ);
}

/* rest: Get-Blob-Properties */
enum error get_blob_properties(struct decision *d)
{
    const struct blob *blob = &blob_state(d)->blob;

    answer(d, 200);
    if (blob->http.has_md5)
        answer_header(d, "Content-MD5",
                      base64_encode(d->arena, bytes_of(blob->http.md5, sizeof blob->http.md5)));
    blob_answer_properties(d, blob);
    blob_answer_tier(d, blob);
    d->response->body_length = blob->content.length;
    return OK;
}

/* ---- Set Blob Properties ---- */

/* The headers of page blobs only. rest: Set-Blob-Properties */
static enum error refuse_page_headers(struct decision *d)
{
    static const char *const names[] = { "x-ms-blob-content-length", "x-ms-sequence-number-action",
                                         "x-ms-blob-sequence-number" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (call_header(d->call, names[i]).ptr)
            return E_InvalidBlobType;
    }
    return OK;
}

enum error check_set_blob_properties(struct decision *d)
{
    struct http_properties *given = arena_alloc(d->arena, sizeof *given);
    enum error e;

    e = blob_refuse_unbuilt(d, REQUEST_CHANGE);
    if (e)
        return e;
    e = blob_parse_http_properties(d, STANDARD_IGNORED, given);
    if (e)
        return e;
    d->call->parameters = given;
    return OK;
}

/* Sets all HTTP properties together: one that was not sent is cleared. rest: Set-Blob-Properties */
enum error set_blob_properties(struct decision *d)
{
    struct blob blob;
    enum error e;

    e = refuse_page_headers(d);
    if (e)
        return e;
    e = blob_begin_change(d, &blob);
    if (e)
        return e;
    blob.http = *(const struct http_properties *)d->call->parameters;
    blob_write(d->changes, d->arena, &blob);

    answer(d, 200);
    answer_etag(d, blob.etag, blob.modified);
    return OK;
}
