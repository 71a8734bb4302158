/* Sends a response: its header section, and a body from memory, from a file, or from a source that
 * generates it. Header section and body in memory are sent by one call; the rest is sent when the
 * socket has space. If the body fails, the connection is dropped, so that the response does not
 * look complete. */
#include "http/http_private.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/uio.h>

#include "base/log.h"

/* Bytes of a file sent in one turn of a connection */
#define FILE_STEP_BYTES ((size_t)512 * 1024)

/* Returns the length of the body to send. rfc: 9110 9.3.2, 15.3.5, 15.4.5 */
static uint64_t body_length(const struct live *live)
{
    const struct response *response = &live->exchange.response;

    if (live->exchange.request.method == METHOD_HEAD || status_has_no_body(response->status))
        return 0;
    return response_length(response);
}

static enum turn waits_for_client(const struct live *live)
{
    connection_awaits_taking(&live->connection->net);
    return TURN_WAITS;
}

/* Returns what to do after a send call that sent nothing. */
static enum turn sent_nothing(const struct live *live, ssize_t n)
{
    return n == TRANSPORT_WAITS ? waits_for_client(live) : TURN_ENDS;
}

static void use_head(struct live *live, size_t *sent)
{
    size_t some = *sent < live->unsent.len ? *sent : live->unsent.len;

    assert(*sent > 0);
    live->unsent = bytes_from(live->unsent, some);
    *sent -= some;
}

/* ---- head ---- */

/* Copies unsent header bytes from the worker's buffer, because they must outlive the turn. */
static void keep_head(struct live *live)
{
    if (live->unsent.len > 0)
        live->unsent = arena_copy(live->exchange.arena, live->unsent);
}

static enum connection_header connection_header(const struct live *live)
{
    if (live->closes)
        return CONNECTION_CLOSE;
    return live->keeps_1_0 ? CONNECTION_KEEP_ALIVE : CONNECTION_NONE;
}

static void write_head(struct live *live)
{
    struct http_worker *worker = live->connection->worker;
    struct response *response = &live->exchange.response;
    size_t size;

    date_text_set(&worker->date, clock_wall());
    size = answer_head_write(response, &worker->date, connection_header(live), worker->head,
                             ANSWER_HEAD_BYTES);
    if (size == 0) {
        response_drop_unsendable(response);
        size = answer_head_write(response, &worker->date, connection_header(live), worker->head,
                                 ANSWER_HEAD_BYTES);
    }
    assert(size > 0);
    live->unsent = bytes_of(worker->head, size);
    live->head_bytes = size;
}

enum turn answer_begin(struct live *live)
{
    struct http_connection *connection = live->connection;
    const struct response *response = &live->exchange.response;
    enum turn turn;

    assert(response->status >= 200 && response->status <= 599);
    assert(live->stage != STAGE_ANSWER && live->sent == 0 && !live->block);
    live->stage = STAGE_ANSWER;
    live->closes |= net_is_stopping(connection->net.server);
    connection_is_ours(&connection->net);
    write_head(live);
    turn = answer_step(live);
    if (turn != TURN_SENT)
        keep_head(live);
    return turn;
}

enum turn answer_refuse(struct live *live, int status)
{
    live->closes = true;
    live->unread = true;
    response_init(&live->exchange.response, live->exchange.arena);
    live->exchange.response.status = status;
    return answer_begin(live);
}

enum turn answer_flush(struct live *live)
{
    struct iovec part = { .iov_base = (void *)(uintptr_t)live->unsent.ptr,
                          .iov_len = live->unsent.len };
    ssize_t n;
    size_t sent;

    assert(live->unsent.len > 0);
    if (!live->connection->net.writable)
        return waits_for_client(live);
    n = transport_send(&live->connection->net, &part, 1,
                       live->stage == STAGE_ANSWER && body_length(live) > 0);
    if (n < 0)
        return sent_nothing(live, n);
    sent = (size_t)n;
    use_head(live, &sent);
    return live->unsent.len > 0 ? waits_for_client(live) : TURN_GOES_ON;
}

enum turn answer_continue(struct live *live)
{
    live->unsent = (struct bytes)BYTES("HTTP/1.1 100 Continue\r\n\r\n");
    return answer_flush(live);
}

/* ---- bodies ---- */

/* Sends the rest of the header section and a part of the body. */
static enum turn send_run(struct live *live, struct bytes run)
{
    struct iovec parts[2];
    size_t count = 0;
    size_t sent;
    ssize_t n;

    if (live->unsent.len > 0)
        parts[count++] = (struct iovec){ .iov_base = (void *)(uintptr_t)live->unsent.ptr,
                                         .iov_len = live->unsent.len };
    if (run.len > 0)
        parts[count++] =
            (struct iovec){ .iov_base = (void *)(uintptr_t)run.ptr, .iov_len = run.len };
    if (count == 0)
        return TURN_GOES_ON;
    if (!live->connection->net.writable)
        return waits_for_client(live);
    n = transport_send(&live->connection->net, parts, count, false);
    if (n < 0)
        return sent_nothing(live, n);
    sent = (size_t)n;
    use_head(live, &sent);
    assert(sent <= run.len);
    live->sent += sent;
    return TURN_GOES_ON;
}

static enum turn send_bytes(struct live *live, uint64_t length)
{
    struct bytes body = length > 0 ? live->exchange.response.body : (struct bytes){ NULL, 0 };
    enum turn turn = send_run(live, bytes_from(body, (size_t)live->sent));

    if (turn == TURN_GOES_ON && live->unsent.len == 0 && live->sent == length)
        return TURN_SENT;
    return turn;
}

/* Returns the result of a turn for a source that has no bytes to send. */
static enum turn without_bytes(const struct live *live, long said)
{
    assert(said != BODY_WAIT || live->connection->is_paused);
    return said == BODY_WAIT ? TURN_WAITS : TURN_ENDS;
}

static enum turn send_file(struct live *live, uint64_t length)
{
    const struct response *response = &live->exchange.response;
    struct body_source *source = response->source;
    uint64_t left = length - live->sent;
    size_t step = left < FILE_STEP_BYTES ? (size_t)left : FILE_STEP_BYTES;
    ssize_t n;

    if (!live->connection->net.writable)
        return waits_for_client(live);
    if (source && source->is_ready) {
        long ready = source->is_ready(source, live->sent, step);

        if (ready <= 0)
            return without_bytes(live, ready);
        step = (size_t)ready;
    }
    n = transport_send_file(&live->connection->net, response->fd, response->fd_offset + live->sent,
                            step);
    if (n == 0)
        log_line(LOG_ERROR,
                 "response aborted: the file to send is shorter than its Content-Length");
    if (n <= 0)
        return n == 0 ? TURN_ENDS : sent_nothing(live, n);
    assert((size_t)n <= step);
    live->sent += (uint64_t)n;
    return live->sent == length ? TURN_SENT : TURN_GOES_ON;
}

/* Stores the bytes of a block that the socket has not accepted yet. */
static void keep_block(struct live *live, struct bytes rest)
{
    if (!live->block) {
        live->block = xmalloc(rest.len);
        memcpy(live->block, rest.ptr, rest.len);
        live->block_at = 0;
        live->block_size = rest.len;
        return;
    }
    assert(rest.len <= live->block_size);
    live->block_at = live->block_size - rest.len;
}

static void drop_block(struct live *live)
{
    free(live->block);
    live->block = NULL;
}

/* Reads the next bytes of a source. Returns TURN_GOES_ON after setting *ret_run; any other result
 * ends the turn. */
static enum turn read_source(struct live *live, uint64_t left, struct bytes *ret_run)
{
    struct body_source *source = live->exchange.response.source;
    char *block = connection_block(&live->connection->net);
    size_t max = left < CONNECTION_BLOCK_BYTES ? (size_t)left : CONNECTION_BLOCK_BYTES;
    long n;

    assert(left > 0);
    if (live->block) {
        *ret_run = bytes_of(live->block + live->block_at, live->block_size - live->block_at);
        return TURN_GOES_ON;
    }
    if (!live->connection->net.writable)
        return waits_for_client(live);
    n = source->read(source, live->sent, block, max);
    assert(n <= (long)max);
    if (n <= 0)
        return without_bytes(live, n);
    *ret_run = bytes_of(block, (size_t)n);
    return TURN_GOES_ON;
}

static enum turn send_source(struct live *live, uint64_t length)
{
    uint64_t before = live->sent;
    struct bytes run;
    enum turn turn = read_source(live, length - live->sent, &run);

    if (turn != TURN_GOES_ON)
        return turn;
    turn = send_run(live, run);
    run = bytes_from(run, (size_t)(live->sent - before));
    if (turn != TURN_ENDS && run.len > 0)
        keep_block(live, run);
    else
        drop_block(live);
    if (turn == TURN_GOES_ON && live->sent == length)
        return TURN_SENT;
    return turn;
}

enum turn answer_step(struct live *live)
{
    uint64_t length = body_length(live);
    enum body_kind kind = live->exchange.response.body_kind;

    if (!tenure_holds(live->exchange.tenure))
        return TURN_ENDS; /* even within a body, whose pieces may have been freed */
    if (length == 0 || kind == BODY_BYTES)
        return send_bytes(live, length);
    assert(kind != BODY_NONE); /* a length without a body */
    if (live->unsent.len > 0)
        return answer_flush(live);
    assert(live->sent < length);
    return kind == BODY_FILE ? send_file(live, length) : send_source(live, length);
}

void answer_over(struct live *live)
{
    if (live->has_file) {
        unsigned files = atomic_fetch_sub(&live->connection->server->answer_files, 1);

        assert(files > 0);
    }
    live->has_file = false;
    drop_block(live);
}
