/* See open_source.h. The source is the response of a server to a GET: its bytes, and the
 * properties in its headers. The server is not trusted: its headers must obey the rules for request
 * headers, and its bytes must be the requested range. decisions: 240, 241 */
#include "source/open_source.h"

#include "base/encode.h"
#include "base/log.h"
#include "service/metadata.h"

/* Time limit for reading a source while its request waits. decision: 55 */
#define READ_S        600u
/* Maximum size of the headers copied to the blob, the same as in a request. decision: 49 */
#define KEPT_SIZE_MAX ((size_t)16 * 1024)
/* Error codes in the reference have up to 50 letters. */
#define CODE_SIZE_MAX 100u

/* ---- errors ---- */

static enum error fail_fetch(struct gathering *g, const struct open_source *open,
                             enum fetch_result result)
{
    struct problem *problem = g->call->problem;

    if (result == FETCH_STOPPED)
        return E_ServerBusy;
    log_line(LOG_INFO, "cannot read the source of a copy: %s", fetch_problem(open->fetch));
    if (result != FETCH_REFUSED)
        return E_CannotVerifyCopySource;
    problem->source_status = 403;
    problem->source_message =
        bytes_from_string("This server does not read sources at that address.");
    return E_CannotVerifyCopySource;
}

/* Returns the source's error code, if it has the form of the reference's codes. */
static struct bytes error_code_of(struct gathering *g, const struct open_source *open)
{
    struct bytes code = fetch_header(open->fetch, "x-ms-error-code");

    for (size_t i = 0; i < code.len; i++) {
        char c = code.ptr[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')))
            return bytes_of(NULL, 0);
    }
    return code.len <= CODE_SIZE_MAX ? arena_copy(g->call->arena, code) : bytes_of(NULL, 0);
}

/* Fails with the source's status, if that is an error status. */
static enum error fail_status(struct gathering *g, const struct copy_source *source,
                              const struct open_source *open)
{
    struct problem *problem = g->call->problem;
    int status = fetch_status(open->fetch);

    if (source->rule == SOURCE_COPIED && (status == 304 || status == 412))
        return E_SourceConditionNotMet;
    if (status < 300 || status > 599)
        status = 500; /* an unexpected success, or an invalid status */
    problem->source_status = status;
    if (status != 304 && status != 412)
        problem->source_code = error_code_of(g, open);
    return E_CannotVerifyCopySource;
}

/* ---- properties ---- */

/* The headers that are copied. */
struct keeping {
    struct gathering *g;
    const struct open_source *open;
    size_t size; /* size as header lines */
};

/* Adds the size of a header line. */
static enum error count_header(struct keeping *k, const char *name, struct bytes value)
{
    k->size += strlen(name) + value.len + sizeof ": \r\n" - 1;
    if (k->size <= KEPT_SIZE_MAX && !http_has_control(value, '\t'))
        return OK;
    problem_set_header(k->g->call->problem, name, bytes_of(NULL, 0));
    return source_cannot_verify(k->g, E_InvalidHeaderValue);
}

static enum error keep_header(struct keeping *k, const char *name, struct bytes *ret_value)
{
    struct bytes value = fetch_header(k->open->fetch, name);
    enum error e = OK;

    *ret_value = bytes_of(NULL, 0);
    if (value.len == 0)
        return OK;
    e = count_header(k, name, value);
    if (!e)
        *ret_value = arena_copy(k->g->call->arena, value);
    return e;
}

static void read_md5(struct gathering *g, const struct open_source *open,
                     struct http_properties *http)
{
    struct bytes text = fetch_header(open->fetch, "content-md5");
    struct bytes md5 = text.len > 0 ? base64_decode(g->call->arena, text) : text;

    http->has_md5 = md5.ptr && md5.len == MD5_SIZE;
    if (!http->has_md5)
        return;
    http->md5_size = MD5_SIZE;
    memcpy(http->md5, md5.ptr, MD5_SIZE);
}

/* Reads the x-ms-meta- headers by the rules for requests. */
static enum error read_metadata(struct gathering *g, const struct open_source *open,
                                struct bytes *ret_metadata)
{
    size_t count = fetch_header_count(open->fetch);
    struct http_header *headers = arena_array(g->call->arena, count, sizeof *headers);
    struct request request = { .headers = headers, .header_count = count };
    struct call call = *g->call;

    for (size_t i = 0; i < count; i++) {
        struct fetch_header header = fetch_header_at(open->fetch, i);

        headers[i] = (struct http_header){
            .name = arena_copy(g->call->arena, header.name),
            .value = arena_copy(g->call->arena, header.value),
        };
        headers[i].name_as_sent = headers[i].name;
    }
    call_set_request(&call, &request);
    return metadata_from_headers(&call, ret_metadata);
}

static enum error keep_metadata(struct keeping *k, struct bytes *ret_metadata)
{
    static const struct bytes prefix = BYTES("x-ms-meta-");
    enum error e = OK;

    for (size_t i = 0; !e && i < fetch_header_count(k->open->fetch); i++) {
        struct fetch_header header = fetch_header_at(k->open->fetch, i);

        if (bytes_has_prefix(header.name, prefix))
            e = count_header(k, arena_string(k->g->call->arena, header.name), header.value);
    }
    return e ? e : read_metadata(k->g, k->open, ret_metadata);
}

static enum error read_facts(struct gathering *g, const struct copy_source *source,
                             struct open_source *open)
{
    struct http_properties *http = &open->facts.http;
    struct keeping keeping = { .g = g, .open = open };
    const struct {
        const char *name;
        struct bytes *to;
    } kept[] = {
        { "etag", &open->etag },
        { "content-type", &http->content_type },
        { "content-encoding", &http->content_encoding },
        { "content-language", &http->content_language },
        { "content-disposition", &http->content_disposition },
        { "cache-control", &http->cache_control },
    };

    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        enum error e = keep_header(&keeping, kept[i].name, kept[i].to);

        if (e)
            return e;
    }
    if (!source->range.ptr)
        read_md5(g, open, http);
    return keep_metadata(&keeping, &open->facts.metadata);
}

/* ---- range ---- */

/* rfc: 9112 6.3: chunked coding overrides Content-Length. */
static uint64_t announced_length(const struct open_source *open)
{
    struct bytes text = fetch_header(open->fetch, "content-length");
    uint64_t length;

    if (fetch_header(open->fetch, "transfer-encoding").ptr)
        return HTTP_LENGTH_UNKNOWN;
    return bytes_parse_u64(text, INT64_MAX, &length) ? length : HTTP_LENGTH_UNKNOWN;
}

/* Parsed "bytes a-b/total". rfc: 9110 14.4 */
struct sent_range {
    uint64_t first, last;
    uint64_t total; /* HTTP_LENGTH_UNKNOWN for "*" */
};

static bool read_sent_range(const struct open_source *open, struct sent_range *ret_range)
{
    struct bytes unit, rest, positions, total, first, last;

    bytes_cut(fetch_header(open->fetch, "content-range"), ' ', &unit, &rest);
    bytes_cut(rest, '/', &positions, &total);
    bytes_cut(positions, '-', &first, &last);
    ret_range->total = HTTP_LENGTH_UNKNOWN;
    return bytes_is_nocase(unit, "bytes") && bytes_parse_u64(first, INT64_MAX, &ret_range->first) &&
           bytes_parse_u64(last, INT64_MAX, &ret_range->last) &&
           (bytes_is(total, "*") || bytes_parse_u64(total, INT64_MAX, &ret_range->total)) &&
           ret_range->first <= ret_range->last && ret_range->last < ret_range->total;
}

/* The range must be the requested one, or a shorter one that ends at the end of the source. */
static enum error find_part(struct gathering *g, const struct copy_source *source,
                            struct open_source *open)
{
    uint64_t announced = announced_length(open), asked, length;
    struct sent_range sent;

    if (range_parse(source->range, UINT64_MAX, &open->offset, &asked) != RANGE_PART ||
        !read_sent_range(open, &sent) || sent.first != open->offset)
        return source_cannot_verify(g, E_InvalidRange);
    length = sent.last - sent.first + 1;
    if (length > asked || (length < asked && sent.last + 1 != sent.total) ||
        (announced != HTTP_LENGTH_UNKNOWN && announced != length))
        return source_cannot_verify(g, E_InvalidRange);
    open->length = length;
    return OK;
}

/* A server without range support sends everything: bytes outside of the range are skipped. */
static enum error find_bytes(struct gathering *g, const struct copy_source *source,
                             struct open_source *open)
{
    uint64_t announced = announced_length(open);

    open->length = announced;
    if (!source->range.ptr)
        return OK;
    if (fetch_status(open->fetch) == 206)
        return find_part(g, source, open);
    if (range_parse(source->range, announced, &open->offset, &open->length) != RANGE_PART)
        return source_cannot_verify(g, E_InvalidRange);
    if (announced == HTTP_LENGTH_UNKNOWN && open->length == announced - open->offset)
        open->length = HTTP_LENGTH_UNKNOWN; /* to the end of the source, which is unknown */
    open->skip = open->offset;
    return OK;
}

/* ---- opening and reading ---- */

static void add(struct fetch_asked *asked, struct fetch_header *headers, const char *name,
                struct bytes value)
{
    headers[asked->header_count++] = (struct fetch_header){ bytes_from_string(name), value };
}

enum error remote_open(struct gathering *g, const struct copy_source *source,
                       struct open_source *open)
{
    struct fetch_header headers[SOURCE_HEADERS_MAX + 1];
    struct fetch_asked asked = {
        .url = source->text,
        .headers = headers,
        .seconds_max = source->rule == SOURCE_READ ? READ_S : 0,
    };
    enum fetch_result result;
    enum error e;

    if (!g->endpoint->fetcher)
        return call_fail(g->call, E_NotImplemented,
                         "This server does not read sources on other servers.");
    for (size_t i = 0; i < source->header_count; i++)
        add(&asked, headers, arena_string(g->call->arena, source->headers[i].name),
            source->headers[i].value);
    if (source->range.ptr)
        add(&asked, headers, "range", source->range);
    result = fetch_open(g->endpoint->fetcher, &asked, &open->fetch);
    if (result)
        return fail_fetch(g, open, result);
    if (fetch_status(open->fetch) != 200 && fetch_status(open->fetch) != 206)
        return fail_status(g, source, open);
    if (fetch_status(open->fetch) == 206 && !source->range.ptr)
        return fail_status(g, source, open);
    e = read_facts(g, source, open);
    return e ? e : find_bytes(g, source, open);
}

enum error remote_read(struct gathering *g, struct open_source *open, char *to, size_t max,
                       size_t *ret_count)
{
    enum fetch_result result;

    *ret_count = 0;
    if (open->skip == 0 && open->length == 0)
        return OK;
    do {
        uint64_t left = open->skip > 0 ? open->skip : open->length;

        result = fetch_read(open->fetch, to, left < max ? (size_t)left : max, ret_count);
        if (open->skip == 0)
            break;
        open->skip -= *ret_count;
    } while (!result && *ret_count > 0);
    if (!result && *ret_count == 0 && (open->skip > 0 || open->length != HTTP_LENGTH_UNKNOWN))
        result = FETCH_FAILED; /* shorter than announced or requested */
    if (result)
        return fail_fetch(g, open, result);
    if (open->length != HTTP_LENGTH_UNKNOWN)
        open->length -= *ret_count;
    return OK;
}
