/* Requests and responses of Put Blob and Put Blob From URL. rest: Put-Blob, Put-Blob-From-URL */
#include "blob/rest/source_blob.h"
#include "blob/rest/request.h"
#include "blob/rest/blob_tags.h"
#include "service/metadata.h"

#define PUT_BLOB_MAX (UINT64_C(5000) << 20)

/* Maximum sizes of Put Blob in older versions; that of the newest version is in the operation
 * table. rest: Put-Blob "Remarks" */
static const struct size_limit limits[] = {
    { "2019-12-12", PUT_BLOB_MAX },
    { "2016-05-31", UINT64_C(256) << 20 },
    { "", UINT64_C(64) << 20 },
};

enum error put_blob_check(struct call *call, struct put_blob_parameters *p)
{
    enum error e = body_check_size(call, limits, call->content_length);

    if (!e)
        e = blob_refuse_page_headers(call);
    if (!e)
        e = create_blob_check(call, STANDARD_USED, SUMS_OF_BLOB, &p->create);
    if (e || !p->create.http.has_md5)
        return e;
    /* It replaces Content-MD5, which is then ignored. decision: 16 */
    call->ignores_md5 = true;
    return p->create.http.md5_size == MD5_SIZE ? OK : E_InvalidMd5;
}

/* An MD5 sent as a property must match the body. */
enum error put_blob_parse(struct call *call, struct put_blob_parameters *p)
{
    const struct http_properties *http = &p->create.http;
    const struct body *body = &call->input.body;
    enum error e = body_check_size(call, limits, body->length);

    if (e)
        return e;
    if (http->has_md5 && memcmp(http->md5, body->md5, sizeof body->md5) != 0)
        return call_fail_sum(call, E_Md5Mismatch, http->md5, body->md5, sizeof body->md5);
    return OK;
}

void put_blob_answer(struct answer *a, const struct put_blob_parameters *p,
                     const struct put_blob_result *r)
{
    blob_answer_version(a, r->version);
    answer_body_sums(a, &p->create.sums);
    blob_answer_encrypted(a, !r->is_directory);
}

/* The tier of a blob with a customer's key cannot be set. pingcap/tidb, br/pkg/storage/azblob.go, from
 * the service's error; decision: 1421. create_blob_begin() refuses that of a blob with a scope. */
static enum error refuse_tier_of_key(struct call *call)
{
    static const char name[] = "x-ms-access-tier";
    struct bytes tier = call_header(call, name);

    return tier.ptr && call->input.key ? call_fail_header(call, E_UnsupportedHeader, name, tier)
                                       : OK;
}

/* ---- Put Blob From URL ---- */

static enum error read_copies_properties(struct call *call, bool *ret_copies)
{
    static const char name[] = "x-ms-copy-source-blob-properties";
    struct bytes value = call_header(call, name);

    *ret_copies = !bytes_is_nocase(value, "false");
    if (value.ptr && *ret_copies && !bytes_is_nocase(value, "true"))
        return call_fail_header(call, E_InvalidHeaderValue, name, value);
    return OK;
}

enum error put_blob_from_url_check(struct call *call, struct put_blob_parameters *p)
{
    struct create_blob *create = &p->create;
    const struct blob_key *source_key;
    enum error e = blob_read_source_key(call, REQUEST_COPY, &source_key);

    p->source = arena_alloc(call->arena, sizeof *p->source);
    if (!e)
        e = refuse_tier_of_key(call);
    if (!e)
        e = blob_parse_http_properties(call, STANDARD_IGNORED, &create->http);
    if (!e)
        e = blob_parse_tier(call, &create->tier);
    if (!e)
        e = metadata_from_headers(call, &create->metadata);
    if (!e)
        e = tags_of_copy(call, &create->tags, &p->copies_tags);
    if (!e)
        e = immutability_from_headers(call, &create->immutability);
    if (!e)
        e = read_copies_properties(call, &p->copies_properties);
    if (!e)
        e = copy_source_check(call, SOURCE_READ, p->source);
    if (e)
        return e;
    p->source->key = source_key;
    p->source->reads_tags = p->copies_tags;
    create->sums = source_sums(call, p->source, SOURCE_SUM_SENT);
    call->wants_md5 = true; /* it is stored */
    return create->http.has_md5 && create->http.md5_size != MD5_SIZE ? E_InvalidMd5 : OK;
}

/* Copies the properties that the request does not set. */
static void take_properties(struct http_properties *to, const struct http_properties *from)
{
    struct bytes *const into[] = { &to->content_type, &to->content_encoding, &to->content_language,
                                   &to->content_disposition, &to->cache_control };
    const struct bytes had[] = { from->content_type, from->content_encoding, from->content_language,
                                 from->content_disposition, from->cache_control };

    for (size_t i = 0; i < sizeof into / sizeof into[0]; i++) {
        if (!into[i]->ptr)
            *into[i] = had[i];
    }
}

enum error put_blob_from_url_gather(struct gathering *g, struct put_blob_parameters *p)
{
    struct http_properties *http = &p->create.http;
    const struct body *body = &g->call->input.body;
    struct open_source source;
    struct blob blob = { .http.has_md5 = false };
    enum error e = source_open(g, p->source, &source);

    if (!e)
        blob = source_blob(&source);
    if (!e)
        e = source_gather(g, p->source, &source, PUT_BLOB_MAX, NULL, NULL);
    source_close(&source);
    if (e)
        return e;
    if (http->has_md5 && memcmp(http->md5, body->md5, sizeof body->md5) != 0)
        return call_fail_sum(g->call, E_Md5Mismatch, http->md5, body->md5, sizeof body->md5);
    if (p->copies_properties)
        take_properties(http, &blob.http);
    if (p->copies_tags)
        p->create.tags = blob.tags;
    if (!http->content_type.ptr)
        http->content_type = bytes_from_string(CONTENT_TYPE_DEFAULT);
    return OK;
}

/* ---- shared by Put Blob, of every type, and Put Block List ---- */

enum error create_blob_check(struct call *call, enum standard_headers standard,
                             enum body_sums_rule rule, struct create_blob *ret_given)
{
    struct create_blob given = { .tier = TIER_NONE };
    enum error e;

    e = blob_read_key(call, REQUEST_CREATE, KEY_WRITES);
    if (!e)
        e = refuse_tier_of_key(call);
    if (e)
        return e;
    e = blob_parse_http_properties(call, standard, &given.http);
    if (e)
        return e;
    if (!given.http.content_type.ptr)
        given.http.content_type = bytes_from_string(CONTENT_TYPE_DEFAULT);
    /* Only page blobs, which are created without a body, have premium tiers. */
    e = rule == SUMS_OF_NOTHING ? blob_parse_any_tier(call, &given.tier)
                                : blob_parse_tier(call, &given.tier);
    if (e)
        return e;
    e = body_read_sums(call, rule, &given.sums);
    if (e)
        return e;
    e = metadata_from_headers(call, &given.metadata);
    if (e)
        return e;
    e = tags_from_header(call, &given.tags);
    if (!e)
        e = immutability_from_headers(call, &given.immutability);
    if (e)
        return e;
    *ret_given = given;
    return OK;
}
