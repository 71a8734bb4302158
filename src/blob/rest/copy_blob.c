/* Copy Blob, Copy Blob From URL and Abort Copy Blob as requests and answers. rest: Copy-Blob,
 * Copy-Blob-From-URL, Abort-Copy-Blob */
#include "blob/rest/copy_source.h"
#include "blob/rest/tags_xml.h"
#include "service/metadata.h"

/* rest: Copy-Blob-From-URL: the largest source that is copied while its request waits. */
#define FROM_URL_MAX (UINT64_C(256) << 20)
/* Copy Blob copies up to so much from this server before it answers, as the service was recorded to do
 * with 8 MiB; all else is pending. decision: 56 */
#define AT_ONCE_MAX  (UINT64_C(64) << 20)

/* ---- what both have in common ---- */

static enum error check(struct call *call, enum source_rule rule, struct copy_blob_parameters *p)
{
    struct bytes type = call_header(call, "x-ms-blob-type");
    enum error e = blob_refuse_unbuilt(call, REQUEST_COPY);

    p->source = arena_alloc(call->arena, sizeof *p->source);
    p->id = guid_new();
    if (!e && type.ptr)
        e = call_fail_header(call, E_InvalidHeaderValue, "x-ms-blob-type", type);
    if (!e)
        e = blob_parse_tier(call, &p->tier);
    if (!e)
        e = metadata_from_headers(call, &p->metadata);
    if (!e)
        e = tags_of_copy(call, &p->tags, &p->copies_tags);
    if (!e)
        e = copy_source_check(call, rule, p->source);
    return e;
}

static enum error take_facts(struct gathering *g, const struct open_source *source,
                             struct copy_blob_parameters *p)
{
    p->source_blob = source->blob;
    p->length = source->length;
    p->shown = url_without(g->call->arena, p->source->text, "sig");
    p->is_own = source->is_own;
    p->source_etag = source->etag;
    if (source->blob.type == BLOB_PAGE)
        return call_fail(g->call, E_NotImplemented, "Copies of page blobs are not built yet.");
    if (source->blob.type == BLOB_BLOCK && !source->blob.http.content_type.ptr)
        p->source_blob.http.content_type = bytes_from_string("application/octet-stream");
    return OK;
}

/* ---- Copy Blob ---- */

enum error copy_blob_check(struct call *call, struct copy_blob_parameters *p)
{
    static const char *const others[] = { "x-ms-source-range", "x-ms-source-content-md5",
                                          "x-ms-source-content-crc64",
                                          "x-ms-copy-source-authorization" };

    p->may_take_long = true;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        struct bytes value = call_header(call, others[i]);

        if (value.ptr) /* of the operations that read their source at once */
            return call_fail_header(call, E_UnsupportedHeader, others[i], value);
    }
    call->wants_crc64 = false;
    return check(call, SOURCE_COPIED, p);
}

/* What a pending copy needs to go on: whom the source belongs to, or what authorizes the read. */
static void keep_source(struct gathering *g, const struct open_source *source,
                        struct copy_blob_parameters *p)
{
    if (source->is_own) {
        p->url = p->shown;
        p->account = inner_account(source->inner);
    } else {
        p->url = p->source->text;
        p->account = g->call->input.account;
    }
}

enum error copy_blob_gather(struct gathering *g, struct copy_blob_parameters *p)
{
    struct open_source source;
    enum error e = source_open(g, p->source, &source);

    if (!e)
        e = take_facts(g, &source, p);
    if (!e)
        keep_source(g, &source, p);
    p->has_bytes = !e && source.is_own && source.length <= AT_ONCE_MAX;
    if (p->has_bytes)
        e = source_gather(g, p->source, &source, AT_ONCE_MAX, &p->bytes, NULL);
    if (p->length == HTTP_LENGTH_UNKNOWN)
        p->length = 0;
    source_close(&source);
    return e;
}

void copy_blob_answer(struct answer *a, const struct copy_blob_parameters *p,
                      const struct copy_blob_result *r)
{
    answer_status(a, 202);
    answer_etag(a, r->etag, r->modified);
    blob_answer_copy_id(a, &p->id, r->status);
}

/* ---- Copy Blob From URL ---- */

enum error copy_blob_from_url_check(struct call *call, struct copy_blob_from_url_parameters *p)
{
    enum error e = check(call, SOURCE_READ, &p->copy);

    if (e)
        return e;
    p->copy.sums = source_sums(call, p->copy.source, SOURCE_SUM_SENT);
    return OK;
}

enum error copy_blob_from_url_gather(struct gathering *g, struct copy_blob_from_url_parameters *p)
{
    struct open_source source;
    enum error e = source_open(g, p->copy.source, &source);

    if (!e && source.blob.type != BLOB_BLOCK)
        e = E_InvalidBlobType; /* rest: Copy-Blob-From-URL: a committed block blob */
    if (!e)
        e = take_facts(g, &source, &p->copy);
    if (!e)
        e = source_gather(g, p->copy.source, &source, FROM_URL_MAX, &p->copy.bytes, NULL);
    source_close(&source);
    p->copy.has_bytes = true;
    p->copy.length = g->call->input.body.length;
    return e;
}

void copy_blob_from_url_answer(struct answer *a, const struct copy_blob_from_url_parameters *p,
                               const struct copy_blob_from_url_result *r)
{
    copy_blob_answer(a, &p->copy, &r->copy);
    blob_answer_sums(a, &p->copy.sums);
    blob_answer_encrypted(a);
}

/* ---- Abort Copy Blob ---- */

enum error abort_copy_blob_check(struct call *call, struct abort_copy_blob_parameters *p)
{
    struct bytes id = call_query(call, "copyid");

    if (id.len == 0)
        return call_fail_query(call, E_MissingRequiredQueryParameter, "copyid", id, NULL);
    p->is_guid = guid_parse(id, &p->id);
    return OK;
}

void abort_copy_blob_answer(struct answer *a, const struct abort_copy_blob_parameters *p,
                            const struct abort_copy_blob_result *r)
{
    (void)p;
    (void)r;
    answer_status(a, 204);
}
