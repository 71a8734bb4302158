/* See cell_request.h. */
#include "request/cell_request.h"

#include "base/log.h"
#include "cluster/peer.h"
#include "request/peer_requests.h"
#include "request/response_record.h"

#define VERSION     1
#define HEADERS_MAX 8u
/* Lists of the root may wait for other cells. */
#define RESPONSE_MS 10000u
/* Time within which the cells agree which of them has a container */
#define MOVES_MAX   16u

/* ---- the request ---- */

/* Reads all of a source. */
static enum error read_all(struct arena *arena, struct gather_source *source, struct bytes *ret_all)
{
    size_t length = (size_t)source->length, count = 0;
    char *all;

    if (source->length > CELL_REQUEST_MAX)
        return E_RequestBodyTooLarge;
    all = arena_bytes(arena, length);
    for (size_t done = 0; done < length; done += count) {
        enum error e = source->read(source, all + done, length - done, &count);

        if (e || count == 0)
            return e ? e : E_InternalError;
    }
    *ret_all = bytes_of(all, length);
    return OK;
}

static enum error write_request(const struct endpoint *endpoint, struct arena *arena,
                                const struct internal_request *internal, struct bytes *ret_request)
{
    struct bytes body = internal->body;
    enum error e = internal->source ? read_all(arena, internal->source, &body) : OK;
    struct text out;

    if (e)
        return e;
    text_init(&out, arena, 512);
    encode_u8(&out, VERSION);
    encode_bytes(&out, bytes_from_string(endpoint->service->name));
    encode_u64(&out, (uint64_t)internal->method);
    encode_bytes(&out, internal->path);
    encode_bytes(&out, internal->query);
    encode_u64(&out, internal->placement);
    encode_u8(&out, internal->by_service);
    encode_u64(&out, internal->header_count);
    for (size_t i = 0; i < internal->header_count; i++)
        header_encode(&out, internal->headers[i].name, internal->headers[i].value);
    encode_bytes(&out, body);
    *ret_request = text_bytes(&out);
    return OK;
}

/* Returns the endpoint, or NULL if the request is malformed. */
static const struct endpoint *read_request(const struct endpoint_set *all, struct bytes body,
                                           struct http_header headers[HEADERS_MAX],
                                           struct internal_request *ret_internal)
{
    const struct endpoint *endpoint;
    struct decoder in;
    uint64_t method, count;
    uint8_t by_service;

    decoder_init(&in, body);
    if (decode_u8(&in) != VERSION)
        return NULL;
    endpoint = endpoint_find(all, decode_bytes(&in));
    method = decode_u64(&in);
    *ret_internal = (struct internal_request){ .path = decode_bytes(&in), .headers = headers };
    ret_internal->query = decode_bytes(&in);
    ret_internal->placement = decode_u64(&in);
    by_service = decode_u8(&in);
    ret_internal->by_service = by_service == 1;
    count = decode_u64(&in);
    in.bad = in.bad || by_service > 1 || count > HEADERS_MAX;
    for (uint64_t i = 0; i < count && !in.bad; i++) {
        struct http_header *header = &headers[ret_internal->header_count++];

        header_decode(&in, &header->name, &header->value);
        header->name_as_sent = header->name;
    }
    ret_internal->body = decode_bytes(&in);
    if (!decoder_ok(&in) || !endpoint ||
        !bytes_has_prefix(ret_internal->path, bytes_from_string("/")) ||
        http_has_control(ret_internal->path, ' ') || http_has_control(ret_internal->query, ' ') ||
        (method != METHOD_GET && method != METHOD_HEAD && method != METHOD_PUT &&
         method != METHOD_POST && method != METHOD_DELETE))
        return NULL;
    ret_internal->method = (enum http_method)method;
    return endpoint;
}

/* A long body, which must not remain in memory. */
struct long_body {
    struct gather_source source; /* must be first */
    struct bytes rest;
};

static enum error read_body(struct gather_source *source, char *to, size_t max, size_t *ret_count)
{
    struct long_body *body = (struct long_body *)(void *)source;

    *ret_count = body->rest.len < max ? body->rest.len : max;
    memcpy(to, body->rest.ptr, *ret_count);
    body->rest = bytes_from(body->rest, *ret_count);
    return OK;
}

int cell_request_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body)
{
    struct http_header headers[HEADERS_MAX];
    struct internal_request internal;
    struct internal_response answer;
    const struct endpoint *endpoint = read_request(context, body, headers, &internal);
    struct long_body lines = { .source = { .read = read_body } };

    if (!endpoint)
        return 400;
    if (internal.body.len > STORE_INLINE_BYTES) {
        lines.rest = internal.body;
        lines.source.length = lines.source.max = internal.body.len;
        internal.body = bytes_of("", 0);
        internal.source = &lines.source;
    }
    internal.is_divided = true;
    internal_request_run(endpoint, arena, &internal, &answer);
    encode_u8(ret_body, VERSION);
    problem_encode_error(ret_body, answer.error);
    encode_bytes(ret_body, answer.detail);
    encode_u64(ret_body, answer.elsewhere.cell);
    encode_u64(ret_body, answer.elsewhere.incarnation);
    if (!answer.error)
        response_encode(ret_body, &answer.response);
    return 200;
}

/* ---- at the owner that received the request ---- */

static bool read_response(struct bytes body, struct arena *arena,
                          struct internal_response *ret_answer)
{
    struct decoder in;
    uint64_t cell;

    *ret_answer = (struct internal_response){ .error = OK };
    decoder_init(&in, body);
    if (decode_u8(&in) != VERSION)
        return false;
    ret_answer->error = problem_decode_error(&in);
    ret_answer->detail = decode_bytes(&in);
    cell = decode_u64(&in);
    ret_answer->elsewhere.incarnation = decode_u64(&in);
    in.bad = in.bad || cell > PLACEMENT_CELL_MAX;
    ret_answer->elsewhere.cell = (uint32_t)cell;
    if (!ret_answer->error)
        response_decode(&in, arena, &ret_answer->response);
    return decoder_ok(&in);
}

static void fail(struct internal_response *ret_answer, enum error e, const char *detail)
{
    *ret_answer = (struct internal_response){ .error = e, .detail = bytes_from_string(detail) };
}

static void ask(const struct endpoint *endpoint, struct arena *arena, uint32_t cell,
                const struct internal_request *internal, struct internal_response *ret_answer)
{
    struct peer_response response;
    struct bytes body;
    enum error e = write_request(endpoint, arena, internal, &body);

    if (e) {
        fail(ret_answer, e, "");
        return;
    }
    switch (peer_ask(endpoint->peers,
                     &(struct peer_request){ .cell = cell,
                                             .path = CELL_REQUEST_PATH,
                                             .body = body,
                                             .response_max = PEER_BODY_MAX,
                                             .response_ms = RESPONSE_MS,
                                             .is_repeatable = internal->method == METHOD_GET },
                     arena, &response)) {
    case PEER_OK:
        if (response.status != 200 || !read_response(response.body, arena, ret_answer)) {
            log_line(LOG_ERROR, "cell %u: no response to an operator's request (status %d)",
                     (unsigned)cell, response.status);
            fail(ret_answer, E_InternalError, "");
        }
        break;
    case PEER_NO_OWNER:
        fail(ret_answer, E_ServerBusy, "The owner of the cell cannot be reached.");
        break;
    case PEER_LOST:
        fail(ret_answer, E_InternalError,
             "The owner of the cell has not responded; the request may have been executed.");
        break;
    }
}

void cell_request_run(const struct endpoint *endpoint, struct arena *arena,
                      const struct internal_request *internal, struct internal_response *ret_answer)
{
    struct internal_request here = *internal;
    uint32_t cell = CLUSTER_ROOT;

    here.is_divided = true;
    if (!endpoint->peers) {
        internal_request_run(endpoint, arena, internal, ret_answer);
        return;
    }
    for (unsigned i = 0; i < MOVES_MAX; i++) {
        if (route_is_ours(endpoint->peers->route, cell))
            internal_request_run(endpoint, arena, &here, ret_answer);
        else
            ask(endpoint, arena, cell, &here, ret_answer);
        if (ret_answer->error != E_MisdirectedRequest)
            return;
        cell = ret_answer->elsewhere.cell > 0 ? ret_answer->elsewhere.cell : CLUSTER_ROOT;
        here.placement = ret_answer->elsewhere.incarnation;
    }
    fail(ret_answer, E_ServerBusy, "");
}
