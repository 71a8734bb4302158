/* Requests and responses of Copy Blob, Copy Blob From URL, Abort Copy Blob and Incremental Copy
 * Blob. rest: Copy-Blob, Copy-Blob-From-URL, Abort-Copy-Blob, Incremental-Copy-Blob */
#include "blob/copy_blob.h"
#include "blob/incremental_copy.h"
#include "blob/page_blob_operations.h"
#include "blob/rest/source_blob.h"
#include "blob/rest/blob_tags.h"
#include "service/answer.h"
#include "service/metadata.h"
#include "source/page_walk.h"

/* The largest source of a synchronous copy. rest: Copy-Blob-From-URL */
#define FROM_URL_MAX (UINT64_C(256) << 20)
/* Copy Blob copies up to this many bytes of this server before it responds, as the service was
 * recorded to do with 8 MiB; larger copies are pending. decision: 56 */
#define AT_ONCE_MAX  (UINT64_C(64) << 20)

/* ---- shared ---- */

/* rest: Copy-Blob "x-ms-seal-blob" */
static enum error read_seal(struct call *call, struct copy_blob_parameters *p)
{
    static const char name[] = "x-ms-seal-blob";
    struct bytes value = call_header(call, name);

    if (!value.ptr)
        return OK;
    p->seals_or_not = true;
    p->seals = bytes_is_nocase(value, "true");
    return p->seals || bytes_is_nocase(value, "false")
               ? OK
               : call_fail_header(call, E_InvalidHeaderValue, name, value);
}

static enum error check(struct call *call, enum source_rule rule, struct copy_blob_parameters *p)
{
    struct bytes type = call_header(call, "x-ms-blob-type");
    enum error e =
        blob_refuse_unbuilt(call, rule == SOURCE_COPIED ? REQUEST_COPY_BLOB : REQUEST_COPY);

    p->source = arena_alloc(call->arena, sizeof *p->source);
    p->id = guid_new();
    if (!e && type.ptr)
        e = call_fail_header(call, E_InvalidHeaderValue, "x-ms-blob-type", type);
    if (!e)
        e = rule == SOURCE_COPIED ? blob_parse_any_tier(call, &p->tier)
                                  : blob_parse_tier(call, &p->tier);
    if (!e)
        e = read_seal(call, p);
    if (!e)
        e = blob_parse_rehydration(call, &p->rehydration);
    if (!e)
        e = metadata_from_headers(call, &p->metadata);
    if (!e)
        e = tags_of_copy(call, &p->tags, &p->copies_tags);
    if (!e)
        e = immutability_from_headers(call, &p->immutability);
    if (!e)
        e = copy_source_check(call, rule, p->source);
    p->source->reads_tags = p->copies_tags;
    return e;
}

/* Checks the length of a page blob, which must be known before it is read. */
static enum error check_pages(struct gathering *g, const struct open_source *source)
{
    if (source->length == HTTP_LENGTH_UNKNOWN || source->length % PAGE_SIZE != 0 ||
        source->length > PAGE_BLOB_MAX || !source->etag.ptr)
        return source_cannot_verify(g, E_InvalidBlobType);
    return OK;
}

static enum error take_facts(struct gathering *g, const struct open_source *source,
                             struct copy_blob_parameters *p)
{
    p->source_blob = source_blob(source);
    p->length = source->length;
    p->shown = url_without(g->call->arena, p->source->sent, "sig");
    if (p->source_blob.type == BLOB_PAGE)
        return check_pages(g, source);
    if (p->source_blob.type == BLOB_BLOCK && !p->source_blob.http.content_type.ptr)
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

        if (value.ptr) /* of the operations that read their source synchronously */
            return call_fail_header(call, E_UnsupportedHeader, others[i], value);
    }
    call->wants_crc64 = false;
    return check(call, SOURCE_COPIED, p);
}

static enum error gather_all(struct gathering *g, struct open_source *source,
                             struct copy_blob_parameters *p)
{
    p->has_bytes = true;
    return source_gather(g, p->source, source, AT_ONCE_MAX, &p->bytes, NULL);
}

/* Copies a page blob with few ranges at once, regardless of its length. */
static enum error gather_pages(struct gathering *g, struct open_source *source,
                               struct copy_blob_parameters *p)
{
    struct page_walk walk;
    enum error e;

    e = page_walk_begin(&walk, g, source, &(struct page_walk_from){ .position = 0 });
    if (!e)
        e = page_walk_find_ranges(&walk);
    p->has_bytes = !e && walk.next == source->facts.content.length && walk.bytes <= AT_ONCE_MAX;
    if (p->has_bytes) {
        e = page_walk_gather(&walk);
        p->bytes.ranges = walk.ranges;
        p->bytes.range_count = walk.range_count;
    }
    page_walk_end(&walk);
    return e;
}

enum error copy_blob_gather(struct gathering *g, struct copy_blob_parameters *p)
{
    struct open_source source;
    enum error e = source_open(g, p->source, &source);

    if (!e)
        e = take_facts(g, &source, p);
    if (!e)
        p->pending = source_pending(g, p->source, &source, p->id);
    if (!e && source.is_own && p->source_blob.type == BLOB_PAGE)
        e = gather_pages(g, &source, p);
    else if (!e && source.is_own && source.length <= AT_ONCE_MAX)
        e = gather_all(g, &source, p);
    if (p->length == HTTP_LENGTH_UNKNOWN)
        p->length = 0;
    source_close(&source);
    return e;
}

void copy_blob_answer(struct answer *a, const struct copy_blob_parameters *p,
                      const struct copy_blob_result *r)
{
    answer_copy_id(a, &p->id, r->status);
    blob_answer_version(a, r->version);
    if (p->may_take_long)
        return;
    answer_body_sums(a, &p->sums);
    if (call_since(a->call, "2020-12-06")) /* decision: 880 */
        blob_answer_encrypted(a);
}

/* ---- Copy Blob From URL ---- */

enum error copy_blob_from_url_check(struct call *call, struct copy_blob_parameters *p)
{
    enum error e = check(call, SOURCE_READ, p);

    if (e)
        return e;
    p->sums = source_sums(call, p->source, SOURCE_SUM_SENT);
    return OK;
}

/* Requires a committed block blob. rest: Copy-Blob-From-URL; decision: 99 */
static enum error fail_type(struct call *call)
{
    call->problem->source_status = error_status(E_InvalidBlobType);
    call->problem->message = bytes_from_string("The copy source must be a block blob.");
    return E_CannotVerifyCopySource;
}

enum error copy_blob_from_url_gather(struct gathering *g, struct copy_blob_parameters *p)
{
    struct open_source source;
    enum error e = source_open(g, p->source, &source);

    if (!e && source_blob(&source).type != BLOB_BLOCK)
        e = fail_type(g->call);
    if (!e)
        e = take_facts(g, &source, p);
    if (!e)
        e = source_gather(g, p->source, &source, FROM_URL_MAX, &p->bytes, NULL);
    source_close(&source);
    p->has_bytes = true;
    p->length = g->call->input.body.length;
    return e;
}

/* ---- Abort Copy Blob ---- */

enum error abort_copy_blob_check(struct call *call, struct abort_copy_blob_parameters *p)
{
    struct bytes id = call_query(call, "copyid");

    if (id.len == 0)
        return call_fail_query(call, E_MissingRequiredQueryParameter, "copyid", id, NULL);
    if (!guid_parse(id, &p->id)) /* recorded */
        return call_fail_query(call, E_InvalidQueryParameterValue, "copyid", id, "Not a GUID.");
    return OK;
}

OPERATION_ANSWERS_NOTHING(abort_copy_blob)

/* ---- Incremental Copy Blob. rest: Incremental-Copy-Blob ---- */

/* Refuses the headers that only Copy Blob has. */
static enum error refuse_others(struct call *call)
{
    static const char *const names[] = {
        "x-ms-source-range",
        "x-ms-source-content-md5",
        "x-ms-source-content-crc64",
        "x-ms-access-tier",
        "x-ms-rehydrate-priority",
        "x-ms-copy-source-tag-option",
        "x-ms-seal-blob",
        "x-ms-tags",
        "x-ms-blob-type",
        "x-ms-requires-sync",
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct bytes value = call_header(call, names[i]);

        if (value.ptr)
            return call_fail_header(call, E_UnsupportedHeader, names[i], value);
    }
    return OK;
}

enum error incremental_copy_blob_check(struct call *call,
                                       struct incremental_copy_blob_parameters *p)
{
    enum error e = blob_refuse_unbuilt(call, REQUEST_COPY_BLOB);

    p->source = arena_alloc(call->arena, sizeof *p->source);
    p->id = guid_new();
    if (!e)
        e = refuse_others(call);
    if (!e)
        e = copy_source_check(call, SOURCE_READ, p->source);
    call->wants_md5 = call->wants_crc64 = false;
    return e;
}

static enum error check_source(const struct blob *source)
{
    if (source->type != BLOB_PAGE)
        return E_InvalidSourceBlobType;
    return blob_ref_is_base(source->ref) ? E_IncrementalCopySourceMustBeSnapshot : OK;
}

/* Accepts only sources on this server. decision: 100 */
enum error incremental_copy_blob_gather(struct gathering *g,
                                        struct incremental_copy_blob_parameters *p)
{
    struct open_source source = { .inner = NULL };
    enum error e = source_endpoint(g->call, p->source) ? source_open(g, p->source, &source)
                                                       : E_InvalidSourceBlobUrl;

    if (!e)
        p->source_blob = source_blob(&source);
    if (!e)
        e = check_source(&p->source_blob);
    if (!e) {
        p->path = p->source->url.path;
        p->shown = url_without(g->call->arena, p->source->sent, "sig");
        p->pending = source_pending(g, p->source, &source, p->id);
    }
    source_close(&source);
    return e;
}

void incremental_copy_blob_answer(struct answer *a,
                                  const struct incremental_copy_blob_parameters *p,
                                  const struct incremental_copy_blob_result *r)
{
    answer_copy_id(a, &p->id, COPY_PENDING);
    blob_answer_version(a, r->version);
}
