/* From MHD's parsed head to a struct request. MHD has split the lines; here is decided what is
 * refused before any application sees it: everything about which two parsers might disagree
 * (rfc: 9112 6.3, 11.2), and counts that only an attack would reach.
 *
 * MHD parses in place: it overwrites delimiters with NUL and hands out strings. A NUL that the
 * client sent would thus hide what follows it, and a folded line (rfc: 9112 5.2) is pieced together
 * elsewhere in memory. Both show as bytes of the head that no string accounts for, so each string
 * must begin where the one before it ended. */
#include "http/http_private.h"
#include "http/tokens.h"

#include <assert.h>
#include <stdlib.h>

#define HEADER_COUNT_MAX 256
/* Of the header lines together. What is stored of them must fit into the head of an answer, beside
 * what another request may have stored (metadata: 8 KiB). */
#define HEADERS_SIZE_MAX ((size_t)16 * 1024)

struct bytes request_find_header(const struct request *request, struct bytes name)
{
    for (size_t i = 0; i < request->header_count; i++) {
        const struct http_header *h = &request->headers[i];

        /* The first and the last character tell nearly all names apart. */
        if (h->name.len == name.len && h->name.ptr[0] == name.ptr[0] &&
            h->name.ptr[name.len - 1] == name.ptr[name.len - 1] && bytes_equal(h->name, name))
            return h->value;
    }
    return (struct bytes){ NULL, 0 };
}

/* ---- target ---- */

/* origin-form or absolute-form (rfc: 9112 3.2.2: a server accepts it; the authority is dropped).
 * Returns false for anything else. */
static bool read_target(struct bytes target, struct request *request)
{
    struct bytes path = target;

    if (http_has_control(target, '\0') || memchr(target.ptr, ' ', target.len))
        return false;
    if (target.len == 0 || target.ptr[0] != '/') {
        const char *colon = memchr(target.ptr, ':', target.len);
        struct bytes scheme = { target.ptr, colon ? (size_t)(colon - target.ptr) : 0 };
        const char *slash;

        if (!bytes_is_nocase(scheme, "http") && !bytes_is_nocase(scheme, "https"))
            return false;
        path = bytes_from(target, scheme.len + 1);
        if (!bytes_has_prefix(path, (struct bytes)BYTES("//")))
            return false;
        path = bytes_from(path, 2);
        slash = memchr(path.ptr, '/', path.len);
        if (!slash)
            return false;
        path = bytes_from(path, (size_t)(slash - path.ptr));
    }
    bytes_cut(path, '?', &request->path, &request->query);
    return true;
}

/* ---- headers ---- */

struct header_reader {
    struct arena *arena;
    struct http_header *headers;
    size_t count;
    size_t capacity;
    const char *end; /* of the text before: of the version, then of the last header's value */
    bool bad;
};

/* Whether `next` follows `end` after so many line ends, each CR LF, two NULs by now. A bare LF is
 * refused, because another parser may not take it for a line's end. rfc: 9112 2.2 */
static bool follows(const char *next, const char *end, int line_ends)
{
    return next - end == 2 * line_ends;
}

/* Between a name and its value: the colon, by now a NUL, and blanks. */
static bool only_blanks_between(const char *colon, const char *value)
{
    for (const char *p = colon + 1; p < value; p++) {
        if (*p != ' ' && *p != '\t')
            return false;
    }
    return value > colon;
}

static enum MHD_Result read_header(void *state, enum MHD_ValueKind kind, const char *name,
                                   size_t name_len, const char *value, size_t value_len)
{
    struct header_reader *reader = state;
    struct http_header *header = &reader->headers[reader->count];
    char *lower;

    (void)kind;
    assert(reader->count < reader->capacity);
    if (!value || !follows(name, reader->end, 1) || !only_blanks_between(name + name_len, value)) {
        reader->bad = true;
        return MHD_NO;
    }
    reader->end = value + value_len;
    header->name_as_sent = bytes_of(name, name_len);
    header->value = bytes_trim(bytes_of(value, value_len));
    lower = arena_bytes(reader->arena, name_len);
    reader->bad |= !http_lower_name(header->name_as_sent, lower);
    header->name = bytes_of(lower, name_len);
    reader->bad |= http_has_control(header->value, '\t');
    reader->count++;
    return MHD_YES;
}

/* head, version: as MHD passes them, at the beginning and at the end of the request line.
 * Returns 0, 400 or 431. */
static int read_headers(struct live *live, const char *head, const char *version)
{
    struct request *request = &live->exchange.request;
    struct header_reader reader = { .arena = live->exchange.arena,
                                    .end = version + strlen(version) };
    size_t head_size =
        MHD_get_connection_info(live->mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)->header_size;
    int count = MHD_get_connection_values_n(live->mhd, MHD_HEADER_KIND, NULL, NULL);

    assert(count >= 0);
    live->head_memory = head_size + (size_t)count * HEADER_RECORD_BYTES;
    if (count > HEADER_COUNT_MAX || head_size - live->target.len > HEADERS_SIZE_MAX ||
        live->head_memory + ANSWER_HEAD_ROOM >
            live->connection->server->limits.connection_memory_bytes)
        return MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE;
    reader.capacity = (size_t)count;
    reader.headers = arena_array(reader.arena, reader.capacity, sizeof *reader.headers);
    MHD_get_connection_values_n(live->mhd, MHD_HEADER_KIND, read_header, &reader);
    request->headers = reader.headers;
    request->header_count = reader.count;
    if (reader.bad || !follows(head + head_size, reader.end, 2))
        return MHD_HTTP_BAD_REQUEST;
    return 0;
}

static size_t header_occurrences(const struct request *request, const char *name)
{
    size_t count = 0;

    for (size_t i = 0; i < request->header_count; i++)
        count += bytes_is(request->headers[i].name, name);
    return count;
}

/* How long the body is. rfc: 9112 6.1, 6.3. Returns 0, 400 or 501. */
static int read_framing(struct request *request, const char *version)
{
    struct bytes coding = request_header(request, "transfer-encoding");
    struct bytes length = request_header(request, "content-length");
    size_t codings = header_occurrences(request, "transfer-encoding");
    size_t lengths = header_occurrences(request, "content-length");

    request->content_length = 0;
    if (codings + lengths > 1)
        return MHD_HTTP_BAD_REQUEST;
    if (coding.ptr) {
        /* MHD does not trim it, and would take no blank after "chunked" for that coding. */
        if (coding.ptr[coding.len] != '\0')
            return MHD_HTTP_BAD_REQUEST;
        if (strcmp(version, MHD_HTTP_VERSION_1_0) == 0)
            return MHD_HTTP_BAD_REQUEST;
        if (!bytes_is_nocase(coding, "chunked"))
            return MHD_HTTP_NOT_IMPLEMENTED;
        request->content_length = HTTP_LENGTH_UNKNOWN;
    } else if (length.ptr) {
        if (!bytes_parse_u64(length, INT64_MAX, &request->content_length))
            return MHD_HTTP_BAD_REQUEST;
    }
    return 0;
}

/* rfc: 9112 3.2 */
static bool host_is_right(const struct request *request, const char *version)
{
    size_t hosts = header_occurrences(request, "host");

    return hosts == 1 || (hosts == 0 && strcmp(version, MHD_HTTP_VERSION_1_0) == 0);
}

int request_read(struct live *live, const char *method, const char *version)
{
    struct request *request = &live->exchange.request;
    const struct connection *connection = live->connection;
    struct bytes expect;
    int refusal;

    request->method_text = bytes_from_string(method);
    request->method = http_method_of(request->method_text);
    request->peer = bytes_from_string(connection->peer);
    request->peer_is_loopback = connection->peer_is_loopback;
    request->secure = connection->server->secure;
    request->listener_tag = connection->server->tag;

    if (strcmp(version, MHD_HTTP_VERSION_1_1) != 0 && strcmp(version, MHD_HTTP_VERSION_1_0) != 0)
        return MHD_HTTP_HTTP_VERSION_NOT_SUPPORTED;
    if (version != live->target_end + 1 || !read_target(live->target, request))
        return MHD_HTTP_BAD_REQUEST;
    refusal = read_headers(live, method, version);
    if (refusal != 0)
        return refusal;
    if (!host_is_right(request, version))
        return MHD_HTTP_BAD_REQUEST;
    refusal = read_framing(request, version);
    if (refusal != 0)
        return refusal;

    expect = request_header(request, "expect");
    if (expect.ptr && !bytes_is_nocase(expect, "100-continue"))
        return MHD_HTTP_EXPECTATION_FAILED;
    /* MHD reads chunk lines more kindly than others do (a bare LF ends them). Nothing that comes
     * after such a body is read as a request, so it cannot matter to whom it belongs.
     * rfc: 9112 11.2 */
    live->closes |= request->content_length == HTTP_LENGTH_UNKNOWN;
    live->expects =
        expect.ptr && request->content_length != 0 && strcmp(version, MHD_HTTP_VERSION_1_1) == 0;
    return 0;
}
