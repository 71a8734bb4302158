/* The headers that several blob operations read. What is not built yet is refused, all else is
 * parsed. */
#include "blob/blob_request.h"

#include <inttypes.h>

#include "base/encode.h"

/* ---- what is not built yet ---- */

static const struct unbuilt {
    struct bytes name; /* of a literal, so it ends with a NUL */
    unsigned kinds;    /* REQUEST_ bits: what it would change the meaning of */
} unbuilt_headers[] = {
    /* rest: Encryption-at-rest; Encryption-Scopes */
    { BYTES("x-ms-encryption-key"),
      REQUEST_READ | REQUEST_CREATE | REQUEST_BLOCK | REQUEST_CHANGE },
    { BYTES("x-ms-encryption-key-sha256"),
      REQUEST_READ | REQUEST_CREATE | REQUEST_BLOCK | REQUEST_CHANGE },
    { BYTES("x-ms-encryption-algorithm"),
      REQUEST_READ | REQUEST_CREATE | REQUEST_BLOCK | REQUEST_CHANGE },
    { BYTES("x-ms-encryption-scope"), REQUEST_CREATE | REQUEST_BLOCK | REQUEST_CHANGE },
    { BYTES("x-ms-tags"), REQUEST_CREATE },
    { BYTES("x-ms-immutability-policy-until-date"), REQUEST_CREATE },
    { BYTES("x-ms-immutability-policy-mode"), REQUEST_CREATE },
    { BYTES("x-ms-legal-hold"), REQUEST_CREATE },
    { BYTES("x-ms-expiry-option"), REQUEST_CREATE },
    { BYTES("x-ms-expiry-time"), REQUEST_CREATE },
    { BYTES("x-ms-structured-body"), REQUEST_READ | REQUEST_CREATE | REQUEST_BLOCK },
    { BYTES("x-ms-structured-content-length"), REQUEST_CREATE | REQUEST_BLOCK },
    { BYTES("x-ms-access-tier-if-modified-since"), REQUEST_DELETE },
    { BYTES("x-ms-access-tier-if-unmodified-since"), REQUEST_DELETE },
};

static const struct unbuilt unbuilt_parameters[] = {
    { BYTES("versionid"), REQUEST_READ | REQUEST_CREATE | REQUEST_BLOCK | REQUEST_CHANGE |
                              REQUEST_DELETE | REQUEST_LEASE },
    { BYTES("deletetype"), REQUEST_DELETE },
};

/* The row of that name, if it is for requests of this kind. */
static const struct unbuilt *find_unbuilt(const struct unbuilt *rows, size_t count,
                                          enum blob_request_kind kind, struct bytes name)
{
    for (size_t i = 0; i < count; i++) {
        if ((rows[i].kinds & kind) && bytes_equal(rows[i].name, name))
            return &rows[i];
    }
    return NULL;
}

/* Once over what was sent, rather than over all that might be: every request comes this way. */
static enum error refuse_headers(struct decision *d, enum blob_request_kind kind)
{
    const struct request *request = d->call->request;

    for (size_t i = 0; i < request->header_count; i++) {
        const struct http_header *header = &request->headers[i];
        const struct unbuilt *row =
            find_unbuilt(unbuilt_headers, sizeof unbuilt_headers / sizeof unbuilt_headers[0], kind,
                         header->name);

        if (row)
            return fail_header(d, E_UnsupportedHeader, row->name.ptr, header->value);
    }
    return OK;
}

static enum error refuse_parameters(struct decision *d, enum blob_request_kind kind)
{
    for (size_t i = 0; i < d->call->query_count; i++) {
        const struct query_parameter *parameter = &d->call->query[i];
        const struct unbuilt *row = find_unbuilt(
            unbuilt_parameters, sizeof unbuilt_parameters / sizeof unbuilt_parameters[0], kind,
            parameter->name);

        if (row)
            return fail_query(d, E_UnsupportedQueryParameter, row->name.ptr, parameter->value,
                              NULL);
    }
    return OK;
}

enum error blob_refuse_unbuilt(struct decision *d, enum blob_request_kind kind)
{
    enum error e = d->call->loose ? OK : refuse_headers(d, kind);

    if (!e && !d->call->loose)
        e = refuse_parameters(d, kind);
    if (e)
        return e;
    if (d->call->snapshot != 0 && kind != REQUEST_READ && kind != REQUEST_DELETE)
        return E_InvalidOperation;
    return OK;
}

/* ---- properties ---- */

/* A property is sent back as a header, so it may hold what a header may. */
static bool is_header_text(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];

        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

static enum error parse_property(struct decision *d, const char *name, const char *standard_name,
                                 struct bytes *ret_value)
{
    struct bytes value = call_header(d->call, name);

    if (!value.ptr && standard_name)
        value = call_header(d->call, standard_name);
    if (!is_header_text(value))
        return fail_header(d, E_InvalidHeaderValue, name, (struct bytes){ NULL, 0 });
    if (value.len == 0)
        value = (struct bytes){ NULL, 0 }; /* sent empty: not set */
    *ret_value = value;
    return OK;
}

static enum error parse_blob_md5(struct decision *d, struct http_properties *http)
{
    static const char name[] = "x-ms-blob-content-md5";
    struct bytes text = call_header(d->call, name);
    struct bytes md5;

    http->has_md5 = false;
    if (text.len == 0)
        return OK;
    md5 = base64_decode(d->arena, text);
    if (!md5.ptr || md5.len != sizeof http->md5)
        return fail_header(d, E_InvalidHeaderValue, name, text);
    memcpy(http->md5, md5.ptr, sizeof http->md5);
    http->has_md5 = true;
    return OK;
}

enum error blob_parse_http_properties(struct decision *d, enum standard_headers standard,
                                      struct http_properties *ret_http)
{
    struct http_properties http = { .has_md5 = false };
    const struct {
        const char *name, *standard_name;
        struct bytes *to;
    } properties[] = {
        { "x-ms-blob-content-type", "content-type", &http.content_type },
        { "x-ms-blob-content-encoding", "content-encoding", &http.content_encoding },
        { "x-ms-blob-content-language", "content-language", &http.content_language },
        { "x-ms-blob-content-disposition", NULL, &http.content_disposition },
        { "x-ms-blob-cache-control", "cache-control", &http.cache_control },
    };

    for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++) {
        const char *plain = standard == STANDARD_USED ? properties[i].standard_name : NULL;
        enum error e = parse_property(d, properties[i].name, plain, properties[i].to);

        if (e)
            return e;
    }
    enum error e = parse_blob_md5(d, &http);

    if (e)
        return e;
    *ret_http = http;
    return OK;
}

enum error blob_parse_tier(struct decision *d, enum access_tier *ret_tier)
{
    struct bytes text = call_header(d->call, "x-ms-access-tier");

    if (!text.ptr) {
        *ret_tier = TIER_NONE;
        return OK;
    }
    for (enum access_tier tier = TIER_HOT; tier <= TIER_ARCHIVE; tier++) {
        if (bytes_is_nocase(text, access_tier_text(tier))) {
            *ret_tier = tier;
            return OK;
        }
    }
    return fail_header(d, E_InvalidHeaderValue, "x-ms-access-tier", text);
}

/* ---- length and sums of the body ---- */

enum error blob_check_size(struct decision *d, const struct size_limit *limits, uint64_t length)
{
    while (!call_since(d->call, limits->since))
        limits++;
    if (length == HTTP_LENGTH_UNKNOWN || length <= limits->bytes)
        return OK;
    fail_field(d, "MaxLimit", arena_printf(d->arena, "%" PRIu64, limits->bytes));
    return E_RequestBodyTooLarge;
}

enum error blob_parse_sums(struct decision *d, enum body_sums_rule rule, struct body_sums *ret_sums)
{
    bool md5_sent = call_header(d->call, "content-md5").len > 0;
    bool crc64_sent = call_header(d->call, "x-ms-content-crc64").len > 0;
    bool crc64_known = call_since(d->call, "2019-02-02");

    if (md5_sent && crc64_sent)
        return E_BothCrc64AndMd5HeaderPresent;
    ret_sums->md5 = rule == SUMS_OF_BLOB || md5_sent || !crc64_known;
    /* Beside an MD5 that was sent only since 2026-10-06. */
    ret_sums->crc64 =
        crc64_known && (rule == SUMS_OF_BLOB || !md5_sent || call_since(d->call, "2026-10-06"));
    d->call->wants_md5 = ret_sums->md5;
    d->call->wants_crc64 = ret_sums->crc64 || crc64_sent;
    return OK;
}

void blob_answer_sums(struct decision *d, const struct body_sums *sums)
{
    const struct body *body = &d->call->body;
    char crc64[8];

    if (sums->md5)
        answer_header(d, "Content-MD5",
                      base64_encode(d->arena, bytes_of(body->md5, sizeof body->md5)));
    if (!sums->crc64)
        return;
    for (unsigned i = 0; i < sizeof crc64; i++)
        crc64[i] = (char)(body->crc64 >> (8 * i));
    answer_header(d, "x-ms-content-crc64", base64_encode(d->arena, bytes_of(crc64, sizeof crc64)));
}

void blob_answer_encrypted(struct decision *d)
{
    if (call_since(d->call, "2015-12-11"))
        answer_string(d, "x-ms-request-server-encrypted", "true");
}
