/* State machine of a connection and its exchange.
 *
 *   no exchange      receives a header section; once complete         -> STAGE_HEAD
 *   STAGE_HEAD       calls head()                                      -> BODY, or DISCARD
 *   STAGE_BODY       calls body() with received bytes                  -> END after the last
 *   STAGE_DISCARD    discards received body bytes                      -> ANSWER after the last
 *   STAGE_END        calls end()                                       -> ANSWER
 *   STAGE_ANSWER     sends the response (answer.c)                     -> no exchange: done(),
 *                                                                         or RECEIPT
 *   STAGE_RECEIPT    reads receipts for a described body               -> no exchange: done()
 *
 * If the response is known before the body has been read, the rest of the body is read first, so
 * that the connection can be reused. In three cases the server responds at once and closes the
 * connection lingeringly (net/cut.c), because it cannot tell where the next request would start:
 * after a malformed header section or chunk, after Expect: 100-continue, and if more of the body is
 * left than the server is willing to discard.
 *
 * A client may half-close the connection after sending its request (rfc: 9112 9.6) and still gets
 * the response, so end-of-stream is only checked when more bytes are needed. */
#include "http/http_private.h"

#include <assert.h>

#include "base/log.h"
#include "http/receipt.h"
#include "http/request.h"

enum http_step exchange_pass_on(struct exchange *exchange,
                                const struct http_application *application, void *tag)
{
    assert(!exchange->application);
    exchange->passed_to = application;
    exchange->request.listener_tag = tag;
    return application->head(exchange);
}

/* ---- head ---- */

/* Receives at most `most` more bytes. */
static enum turn receive(struct http_connection *connection, size_t most)
{
    ssize_t n;

    if (!connection->net.readable)
        return TURN_WAITS;
    n = input_receive(&connection->net, most);
    if (n > 0)
        return TURN_GOES_ON;
    return n == TRANSPORT_WAITS ? TURN_WAITS : TURN_ENDS;
}

static enum turn refuse_head(struct http_connection *connection, int status)
{
    return answer_refuse(exchange_begin(connection), status);
}

/* Waits for the rest of an incomplete header section. */
static enum turn await_head(struct http_connection *connection)
{
    size_t head_max = connection->server->limits.connection_memory_bytes + connection->introduction;
    struct head_scan *scan = &connection->scan;

    if (scan->begin > 0 && connection->introduction == 0) {
        size_t empty_lines = scan->begin;

        head_forget(scan, empty_lines);
        input_use(&connection->net.input, empty_lines);
    }
    if (input_bytes(&connection->net.input).len >= head_max)
        return refuse_head(connection, scan->lines > 0 ? 431 : 414);
    return receive(connection, head_max);
}

/* Reads the introduction that precedes the header section, if the application expects one. */
static enum turn find_introduction(struct http_connection *connection)
{
    struct http_introduction said;

    switch (
        connection->server->application->introduce(input_bytes(&connection->net.input), &said)) {
    case INTRODUCTION_PART:
        return receive(connection, connection->server->limits.connection_memory_bytes);
    case INTRODUCTION_WHOLE:
        connection->introduction = said.size;
        return TURN_GOES_ON;
    case INTRODUCTION_MALFORMED:
        break;
    }
    log_line(LOG_WARN, "%s: connection closed: malformed introduction of a forwarded request",
             connection->net.peer);
    return TURN_ENDS;
}

/* Starts an exchange for a complete header section, which is copied because it must live as long as
 * the exchange. The header section may contain a key, so the original is erased. */
static enum turn begin_request(struct http_connection *connection, struct bytes introduction,
                               struct bytes head)
{
    const struct head_scan scan = connection->scan;
    struct live *live = exchange_begin(connection);
    struct request *request = &live->exchange.request;
    struct request_asks asks = { .closes = false };
    unsigned minor = 0;
    int refusal;

    head = arena_copy(live->exchange.arena, head);
    live->exchange.introduction = arena_copy(live->exchange.arena, introduction);
    input_wipe(&connection->net.input, introduction.len + scan.end);
    connection->scan = (struct head_scan){ .begin = 0 };
    connection->introduction = 0;
    refusal = head_read(live->exchange.arena, head, scan.lines, request, &minor);
    if (refusal == 0)
        refusal = request_read(request, minor, &asks);
    if (refusal == 0)
        refusal = introduction.len > 0 ? live_read_introduction(live) : live_read_forwarded(live);
    if (refusal != 0)
        return answer_refuse(live, refusal);
    request->head_bytes = head.len;
    request->expects = asks.expects || (live->is_announced && request->content_length != 0);
    live->expects = request->expects;
    live->closes |= asks.closes && introduction.len == 0;
    live->keeps_1_0 = asks.keeps_1_0 && introduction.len == 0;
    live->body_left = request->content_length;
    live->stage = STAGE_HEAD;
    return TURN_GOES_ON;
}

static enum turn step_between(struct http_connection *connection)
{
    const struct head_scan *scan = &connection->scan;
    struct bytes input, introduction;

    if (connection->server->application->introduce && connection->introduction == 0) {
        enum turn turn = find_introduction(connection);

        if (connection->introduction == 0)
            return turn;
    }
    input = input_bytes(&connection->net.input);
    introduction = bytes_of(input.ptr, connection->introduction);
    input = bytes_from(input, introduction.len);
    switch (head_find(&connection->scan, input)) {
    case HEAD_PART:
        return await_head(connection);
    case HEAD_MALFORMED:
        return refuse_head(connection, 400);
    case HEAD_WHOLE:
        break;
    }
    if (scan->end - scan->begin > connection->server->limits.connection_memory_bytes)
        return refuse_head(connection, 431);
    return begin_request(connection, introduction,
                         bytes_of(input.ptr + scan->begin, scan->end - scan->begin));
}

/* ---- the application ---- */

/* Handles the application's result of head(), body() or end(). */
static enum turn after(struct live *live, enum http_step step)
{
    switch (step) {
    case HTTP_RESPOND:
        live->stage = STAGE_DISCARD;
        return TURN_GOES_ON;
    case HTTP_WANT_BODY:
        assert(live->stage == STAGE_HEAD || live->stage == STAGE_BODY);
        live->stage = STAGE_BODY;
        return TURN_GOES_ON;
    case HTTP_WAIT: /* another thread may now resume the exchange */
        assert(live->connection->is_paused);
        return TURN_WAITS;
    case HTTP_CUT:
        return TURN_ENDS;
    }
    assert(false); /* invalid step */
    return TURN_ENDS;
}

/* Returns true if the rest of a refused body exceeds the limit for discarding. */
static bool is_too_much(const struct live *live)
{
    bool has_length = live->exchange.request.content_length != HTTP_LENGTH_UNKNOWN;
    uint64_t max = live->connection->server->limits.discard_max_bytes;

    return live->discarded > max || (has_length && live->body_left > max - live->discarded);
}

/* Sends the response although the client may still be sending its body. */
static enum turn answer_early(struct live *live)
{
    live->closes = true;
    live->unread = true;
    return answer_begin(live);
}

static enum turn step_head(struct live *live)
{
    enum http_step step;
    enum turn turn;

    assert(live->stage == STAGE_HEAD);
    live->known = true;
    step = live_application(live)->head(&live->exchange);
    turn = after(live, step);
    if (turn != TURN_GOES_ON)
        return turn;
    /* The client does not send a body announced with Expect after a refusal. */
    if (step == HTTP_RESPOND && (live->expects || is_too_much(live)))
        return answer_early(live);
    if (live->exchange.request.content_length != 0)
        connection_awaits_body(&live->connection->net);
    return live->expects ? answer_continue(live) : TURN_GOES_ON;
}

static enum turn step_end(struct live *live)
{
    enum turn turn;

    assert(live->stage == STAGE_BODY || live->stage == STAGE_END);
    connection_is_ours(&live->connection->net);
    live->stage = STAGE_END;
    live->exchange.others_follow = !connection_is_last(&live->connection->net);
    turn = after(live, live_application(live)->end(&live->exchange));
    return turn == TURN_GOES_ON ? answer_begin(live) : turn;
}

/* ---- body ---- */

/* Skips framing and sets *ret_run to the body bytes in the input. Returns CHUNK_MORE, CHUNK_RUN,
 * CHUNK_END or an error. */
static enum chunk_result find_run(struct live *live, struct bytes *ret_run)
{
    struct input *input = &live->connection->net.input;
    struct bytes there = input_bytes(input);
    enum chunk_result result;
    size_t framing;

    if (live->exchange.request.content_length != HTTP_LENGTH_UNKNOWN) {
        if (live->body_left == 0)
            return CHUNK_END;
        *ret_run =
            bytes_of(there.ptr, there.len < live->body_left ? there.len : (size_t)live->body_left);
        return there.len > 0 ? CHUNK_RUN : CHUNK_MORE;
    }
    result = chunks_next(&live->chunks, there, &framing, &ret_run->len);
    assert(framing + ret_run->len <= there.len);
    ret_run->ptr = there.ptr + framing;
    input_use(input, framing);
    return result;
}

static void took(struct live *live, size_t bytes)
{
    if (live->exchange.request.content_length == HTTP_LENGTH_UNKNOWN)
        chunks_took(&live->chunks, bytes);
    else {
        assert(bytes <= live->body_left);
        live->body_left -= bytes;
    }
    input_use(&live->connection->net.input, bytes);
    connection_got_body(&live->connection->net, bytes);
}

/* Passes body bytes to the application. Bytes that it does not consume stay buffered and are
 * charged to the memory budget. */
static enum turn give_body(struct live *live, struct bytes run)
{
    struct http_connection *connection = live->connection;
    size_t taken = 0;
    enum http_step step;

    connection_resumes_body(&connection->net);
    step = live_application(live)->body(&live->exchange, run, &taken);
    assert(taken <= run.len);
    assert(taken > 0 || step != HTTP_WANT_BODY); /* otherwise an endless loop */
    took(live, taken);
    if (!live_charge(live))
        live->exchange.server_is_busy = true;
    return after(live, step);
}

/* Discards body bytes of a refused request. */
static enum turn discard(struct live *live, struct bytes run)
{
    connection_resumes_body(&live->connection->net);
    live->discarded += run.len;
    took(live, run.len);
    return TURN_GOES_ON;
}

static enum turn step_body(struct live *live)
{
    struct bytes run;

    if (live->unsent.len > 0) {
        enum turn turn = answer_flush(live);

        if (turn != TURN_GOES_ON)
            return turn;
        connection_awaits_body(&live->connection->net);
    }
    if (live->is_early && live->stage == STAGE_BODY) {
        if (live->early_step == HTTP_CUT)
            return TURN_ENDS;
        live->stage = STAGE_DISCARD;
    }
    if (live->stage == STAGE_DISCARD && is_too_much(live))
        return answer_early(live);
    switch (find_run(live, &run)) {
    case CHUNK_MORE:
        return receive(live->connection, CONNECTION_INPUT_BYTES);
    case CHUNK_RUN:
        return live->stage == STAGE_BODY ? give_body(live, run) : discard(live, run);
    case CHUNK_END:
        return live->stage == STAGE_BODY ? step_end(live) : answer_begin(live);
    case CHUNK_MALFORMED:
        return answer_refuse(live, 400);
    case CHUNK_TOO_LARGE:
        break;
    }
    return answer_refuse(live, 413);
}

/* ---- steps ---- */

/* Reads a receipt. The forwarding server has the deadlines for its client, which may be slow; its
 * receipts must not stop for longer than a body may stall. */
static enum turn step_receipt(struct live *live)
{
    struct connection *connection = &live->connection->net;
    uint64_t most = live->exchange.response.described_length;
    struct receipt receipt;

    switch (receipt_read(input_bytes(&connection->input), &receipt)) {
    case RECEIPT_PART:
        return receive(live->connection, CONNECTION_INPUT_BYTES);
    case RECEIPT_MALFORMED:
        log_line(LOG_WARN, "%s: malformed receipt", connection->peer);
        return TURN_ENDS;
    case RECEIPT_WHOLE:
        break;
    }
    if (receipt.bytes < live->passed_on || receipt.bytes > most) {
        log_line(LOG_WARN, "%s: receipt for more bytes than the response has", connection->peer);
        return TURN_ENDS;
    }
    input_use(&connection->input, RECEIPT_BYTES);
    connection_awaits_body(connection);
    live->passed_on = receipt.bytes;
    return receipt.is_last ? TURN_SENT : TURN_GOES_ON;
}

/* Called after the response has been sent, and after the last receipt. */
static enum turn end_of_answer(struct http_connection *connection)
{
    struct live *live = connection->live;
    bool closes = live->closes || live->is_cut_behind;
    bool unread = live->unread;

    assert(live->unsent.len == 0);
    if (live->stage == STAGE_ANSWER && live->exchange.response.described_length > 0) {
        live->stage = STAGE_RECEIPT;
        connection_awaits_body(&connection->net);
        return TURN_GOES_ON;
    }
    assert(live->stage == STAGE_ANSWER || live->stage == STAGE_RECEIPT);
    live->is_sent =
        live->stage == STAGE_ANSWER || live->passed_on == live->exchange.response.described_length;
    exchange_over(connection);
    if (!closes)
        return TURN_GOES_ON;
    return unread ? TURN_LINGERS : TURN_ENDS;
}

static enum turn step(struct http_connection *connection)
{
    struct live *live = connection->live;

    assert(!connection->is_paused);
    if (!live)
        return step_between(connection);
    assert_live(live);
    switch (live->stage) {
    case STAGE_HEAD:
        return step_head(live);
    case STAGE_BODY:
    case STAGE_DISCARD:
        return step_body(live);
    case STAGE_END:
        return step_end(live);
    case STAGE_ANSWER:
        return answer_step(live);
    case STAGE_RECEIPT:
        return step_receipt(live);
    }
    assert(false); /* invalid stage */
    return TURN_ENDS;
}

enum turn exchange_step(struct http_connection *connection)
{
    enum turn turn = step(connection);

    assert(turn != TURN_SENT || connection->live);
    return turn == TURN_SENT ? end_of_answer(connection) : turn;
}
