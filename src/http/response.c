/* From a struct response to MHD's: which bodies go out by copy, by sendfile, or as they are made.
 *
 * MHD writes the Date, Connection and Content-Length headers; it sends no body for HEAD, and
 * neither body nor length for 204 and 304 (rfc: 9110 15.3.5, 15.4.5). */
#include "http/http_private.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/log.h"

/* What a source is asked for at once. Measured over loopback with long bodies: 32 KiB cost a tenth
 * more CPU, and more than this gains less than it holds for each answer under way. */
#define SOURCE_BLOCK_BYTES ((size_t)128 * 1024)
#define HEADERS_FIRST      16
/* Status line, Date, Connection, Content-Length, and MHD's rounding. */
#define OWN_HEAD_BYTES     512u

void response_init(struct response *response, struct arena *arena)
{
    *response = (struct response){ .arena = arena, .fd = -1 };
}

void response_header(struct response *response, struct bytes name, struct bytes value)
{
    assert(response->arena && name.len > 0);
    if (response->header_count == response->header_capacity) {
        size_t capacity =
            response->header_capacity > 0 ? 2 * response->header_capacity : HEADERS_FIRST;
        struct http_header *grown = arena_array(response->arena, capacity, sizeof *grown);

        if (response->header_count > 0)
            memcpy(grown, response->headers, response->header_count * sizeof *grown);
        response->headers = grown;
        response->header_capacity = capacity;
    }
    response->headers[response->header_count++] =
        (struct http_header){ .name = name, .value = value };
}

void response_header_string(struct response *response, const char *name, const char *value)
{
    response_header(response, bytes_from_string(name), bytes_from_string(value));
}

struct bytes http_reason(int status)
{
    return bytes_from_string(MHD_get_reason_phrase_for((unsigned)status));
}

void response_copy_headers(struct response *response, struct arena *to)
{
    struct http_header *copies = arena_array(to, response->header_capacity, sizeof *copies);

    for (size_t i = 0; i < response->header_count; i++) {
        copies[i].name = arena_copy(to, response->headers[i].name);
        copies[i].value = arena_copy(to, response->headers[i].value);
    }
    response->headers = copies;
}

/* ---- bodies ---- */

/* MHD's content reader: 0 means "not now", which MHD accepts of a suspended connection. */
static ssize_t read_source(void *state, uint64_t at, char *to, size_t max)
{
    struct live *live = state;
    struct body_source *source = live->exchange.response.source;
    uint64_t left = live->exchange.response.body_length - at;
    long n;

    assert(!exchange_is_paused(live));
    connection_goes_on_taking(live->connection);
    if (max > left)
        max = (size_t)left;
    n = source->read(source, at, to, max);
    assert(n <= (long)max);
    assert(exchange_is_paused(live) == (n == BODY_WAIT));
    if (n == BODY_WAIT)
        return 0;
    return n > 0 ? n : MHD_CONTENT_READER_END_WITH_ERROR;
}

/* Of a response to HEAD; MHD never asks for its body. */
static ssize_t read_nothing(void *state, uint64_t at, char *to, size_t max)
{
    (void)state;
    (void)at;
    (void)to;
    (void)max;
    return MHD_CONTENT_READER_END_WITH_ERROR;
}

static size_t block_bytes(uint64_t length)
{
    return length < SOURCE_BLOCK_BYTES ? (size_t)length : SOURCE_BLOCK_BYTES;
}

static uint64_t body_length(const struct response *response)
{
    return response->body_kind == BODY_BYTES ? response->body.len : response->body_length;
}

/* Of a response from a file that has no descriptor of its own. */
static ssize_t read_file(void *state, uint64_t at, char *to, size_t max)
{
    const struct response *response = &((struct live *)state)->exchange.response;
    uint64_t left = response->body_length - at;
    ssize_t n;

    if (max > left)
        max = (size_t)left;
    n = pread(response->fd, to, max, (off_t)(response->fd_offset + at));
    if (n < 0)
        log_errno("read a body");
    return n > 0 ? n : MHD_CONTENT_READER_END_WITH_ERROR;
}

bool exchange_take_file(struct exchange *exchange)
{
    struct live *live = (struct live *)(void *)exchange;
    struct http_server *server = live->connection->server;

    if (live->has_file)
        return true;
    if (atomic_fetch_add(&server->answer_files, 1) < server->limits.answer_files_max) {
        live->has_file = true;
        return true;
    }
    atomic_fetch_sub(&server->answer_files, 1);
    return false;
}

void response_over(struct live *live)
{
    if (live->has_file)
        atomic_fetch_sub(&live->connection->server->answer_files, 1);
    live->has_file = false;
}

/* MHD closes the descriptor it is given with the response, which may be after done(): it gets one
 * of its own. Others are read from the application's descriptor instead of sent by the kernel. */
static struct MHD_Response *file_response(struct live *live)
{
    const struct response *response = &live->exchange.response;
    int fd = exchange_take_file(&live->exchange) ? fcntl(response->fd, F_DUPFD_CLOEXEC, 0) : -1;
    struct MHD_Response *made;

    if (fd < 0)
        return MHD_create_response_from_callback(
            response->body_length, block_bytes(response->body_length), read_file, live, NULL);
    made = MHD_create_response_from_fd_at_offset64(response->body_length, fd, response->fd_offset);
    if (!made)
        close(fd);
    return made;
}

static struct MHD_Response *body_response(struct live *live)
{
    const struct response *response = &live->exchange.response;
    uint64_t length = body_length(response);

    if (live->exchange.request.method == METHOD_HEAD && length > 0)
        return MHD_create_response_from_callback(length, 1, read_nothing, NULL, NULL);
    if (length == 0)
        return MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    switch (response->body_kind) {
    case BODY_BYTES:
        return MHD_create_response_from_buffer(response->body.len, (void *)response->body.ptr,
                                               MHD_RESPMEM_PERSISTENT);
    case BODY_FILE:
        return file_response(live);
    case BODY_SOURCE:
        return MHD_create_response_from_callback(length, block_bytes(length), read_source, live,
                                                 NULL);
    case BODY_NONE:
        break;
    }
    assert(false); /* a length without a body */
    return NULL;
}

/* ---- head and sending ---- */

/* MHD takes no header with an empty value; one blank is the same to every reader (rfc: 9110 5.5).
 * That it refuses one otherwise (control characters, Content-Length) is a bug of the caller. */
static void add_headers(struct MHD_Response *made, const struct response *response)
{
    for (size_t i = 0; i < response->header_count; i++) {
        const struct http_header *h = &response->headers[i];
        const char *name = arena_string(response->arena, h->name);
        const char *value = h->value.len > 0 ? arena_string(response->arena, h->value) : " ";
        enum MHD_Result added;

        assert(strlen(value) == h->value.len || h->value.len == 0);
        added = MHD_add_response_header(made, name, value);
        assert(added == MHD_YES);
    }
}

static enum MHD_Result queue(struct live *live, int status, struct MHD_Response *made)
{
    enum MHD_Result result;

    if (live->closes ||
        atomic_load_explicit(&live->connection->server->stopping, memory_order_relaxed))
        MHD_add_response_header(made, MHD_HTTP_HEADER_CONNECTION, "close");
    live->stage = STAGE_QUEUED;
    connection_awaits_taking(live->connection);
    result = MHD_queue_response(live->mhd, (unsigned)status, made);
    MHD_destroy_response(made); /* our reference; MHD has its own */
    return result;
}

/* Whether the head of the answer fits beside that of the request. */
static bool head_fits(const struct live *live)
{
    const struct response *response = &live->exchange.response;
    size_t size = OWN_HEAD_BYTES;

    for (size_t i = 0; i < response->header_count; i++)
        size += response->headers[i].name.len + response->headers[i].value.len + 4;
    return live->head_memory + size <= live->connection->server->limits.connection_memory_bytes;
}

enum MHD_Result response_send(struct live *live)
{
    const struct response *response = &live->exchange.response;
    struct MHD_Response *made;

    assert(response->status >= 200 && response->status <= 599);
    if (!head_fits(live)) /* of a read: those of writes are short */
        return response_refuse(live, MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE);
    made = body_response(live);
    if (!made)
        return MHD_NO;
    add_headers(made, response);
    return queue(live, response->status, made);
}

enum MHD_Result response_refuse(struct live *live, int status)
{
    struct MHD_Response *made = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);

    if (!made)
        return MHD_NO;
    live->closes = true;
    return queue(live, status, made);
}
