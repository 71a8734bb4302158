/* See remote_source.h. What a server answers to a GET is taken as a blob: its bytes, and what its
 * headers say of them. */
#include "blob/rest/remote_source.h"

#include "base/encode.h"
#include "base/log.h"
#include "service/metadata.h"

/* A source that is read while its request waits takes at most so long. decision: 55 */
#define READ_S 600u

/* ---- what is wrong ---- */

static enum error fail_fetch(struct gathering *g, const struct open_source *open,
                             enum fetch_result result)
{
    struct problem *problem = g->call->problem;

    if (result == FETCH_STOPPED)
        return E_ServerBusy;
    log_line(LOG_INFO, "a source of a copy cannot be read: %s", fetch_problem(open->fetch));
    if (result != FETCH_REFUSED)
        return E_CannotVerifyCopySource;
    problem->source_status = 403;
    problem->source_message =
        bytes_from_string("This server does not read sources of that address.");
    return E_CannotVerifyCopySource;
}

static enum error fail_status(struct gathering *g, const struct copy_source *source,
                              const struct open_source *open)
{
    struct problem *problem = g->call->problem;
    struct bytes code = fetch_header(open->fetch, "x-ms-error-code");
    int status = fetch_status(open->fetch);

    if (source->rule == SOURCE_COPIED && (status == 304 || status == 412))
        return E_SourceConditionNotMet;
    if (status < 300)
        status = 500; /* an answer that was not asked for */
    problem->source_status = status;
    if (status != 304 && status != 412 && code.ptr)
        problem->source_code = arena_copy(g->call->arena, code);
    return E_CannotVerifyCopySource;
}

/* ---- what is known of it ---- */

static struct bytes kept_header(struct gathering *g, const struct open_source *open,
                                const char *name)
{
    struct bytes value = fetch_header(open->fetch, name);

    return value.len > 0 ? arena_copy(g->call->arena, value) : bytes_of(NULL, 0);
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

/* Its x-ms-meta- headers, read as those of a request are. */
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

/* A header that is a number of at most `max`; 0: none. */
static uint64_t number_of(const struct open_source *open, const char *name, uint64_t max)
{
    uint64_t number;

    return bytes_parse_u64(fetch_header(open->fetch, name), max, &number) ? number : 0;
}

/* What only append and page blobs have. */
static void read_type(const struct open_source *open, struct blob *blob)
{
    struct bytes type = fetch_header(open->fetch, "x-ms-blob-type");

    if (bytes_is(type, "PageBlob")) {
        blob->type = BLOB_PAGE;
        blob->sequence_number = number_of(open, "x-ms-blob-sequence-number", SEQUENCE_NUMBER_MAX);
    } else if (bytes_is(type, "AppendBlob")) {
        blob->type = BLOB_APPEND;
        blob->is_sealed = bytes_is_nocase(fetch_header(open->fetch, "x-ms-blob-sealed"), "true");
        blob->committed_blocks =
            (uint32_t)number_of(open, "x-ms-blob-committed-block-count", APPENDED_BLOCKS_MAX);
    }
}

static enum error read_facts(struct gathering *g, const struct copy_source *source,
                             struct open_source *open)
{
    struct http_properties *http = &open->blob.http;

    open->etag = kept_header(g, open, "etag");
    http->content_type = kept_header(g, open, "content-type");
    http->content_encoding = kept_header(g, open, "content-encoding");
    http->content_language = kept_header(g, open, "content-language");
    http->content_disposition = kept_header(g, open, "content-disposition");
    http->cache_control = kept_header(g, open, "cache-control");
    if (!source->range.ptr)
        read_md5(g, open, http);
    read_type(open, &open->blob);
    return read_metadata(g, open, &open->blob.metadata);
}

/* ---- which bytes ---- */

static uint64_t announced_length(const struct open_source *open)
{
    struct bytes text = fetch_header(open->fetch, "content-length");
    uint64_t length;

    return bytes_parse_u64(text, INT64_MAX, &length) ? length : HTTP_LENGTH_UNKNOWN;
}

/* "bytes a-b/total" begins where it was asked to. */
static bool range_begins_at(const struct open_source *open, uint64_t offset)
{
    struct bytes unit, rest, first, last;
    uint64_t begins;

    bytes_cut(fetch_header(open->fetch, "content-range"), ' ', &unit, &rest);
    bytes_cut(rest, '-', &first, &last);
    return bytes_is_nocase(unit, "bytes") && bytes_parse_u64(first, UINT64_MAX, &begins) &&
           begins == offset;
}

/* A server that does not know ranges sends all: what is not asked for is passed over. */
static enum error find_bytes(struct gathering *g, const struct copy_source *source,
                             struct open_source *open)
{
    uint64_t announced = announced_length(open);
    enum range_result range = range_parse(source->range, announced, &open->offset, &open->length);

    if (!source->range.ptr) {
        open->length = announced;
        return OK;
    }
    if (fetch_status(open->fetch) == 206) {
        uint64_t asked;

        range_parse(source->range, UINT64_MAX, &open->offset, &asked);
        open->length = announced;
        return range_begins_at(open, open->offset) ? OK : source_cannot_verify(g, E_InvalidRange);
    }
    if (range == RANGE_UNSATISFIABLE)
        return source_cannot_verify(g, E_InvalidRange);
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
        return call_fail(g->call, E_NotImplemented, "This server reads no sources of others.");
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
    if (!result && *ret_count == 0 && open->length != HTTP_LENGTH_UNKNOWN)
        result = FETCH_FAILED; /* shorter than it said */
    if (result)
        return fail_fetch(g, open, result);
    if (open->length != HTTP_LENGTH_UNKNOWN)
        open->length -= *ret_count;
    return OK;
}
