/* A forwarded GET whose body this front end reads from the owner's files: see direct.h. The owner
 * keeps the pieces until the last receipt, or until the link is closed. If the link is lost while
 * the body is being sent, the read continues, because every sector is verified. */
#include "cluster/forward_private.h"

#include <assert.h>
#include <inttypes.h>
#include <sys/uio.h>

#include "base/clock.h"
#include "base/log.h"
#include "cluster/piece_list.h"
#include "http/receipt.h"

static const struct bytes header_name = BYTES(FORWARD_PIECES);

bool forward_may_read(const struct forward *f, const struct owner_target *target)
{
    return f->of->direct && target->version >= PROTOCOL_PIECES && !f->is_refused &&
           f->exchange->request.method == METHOD_GET && !has_body(f) &&
           direct_has_room(f->of->direct);
}

bool forward_is_list(const struct forward *f)
{
    return f->list || response_find_header(&f->exchange->response, header_name);
}

/* ---- receipts ---- */

/* Returns false if the link cannot be used for anything else any more. */
static bool send_receipt(struct forward *f, uint64_t bytes, bool is_last)
{
    struct receipt receipt = { .bytes = bytes, .is_last = is_last };
    char written[RECEIPT_BYTES];
    struct iovec part = { .iov_base = written, .iov_len = sizeof written };

    receipt_write(&receipt, written);
    return f->link->net.writable &&
           transport_send(&f->link->net, &part, 1, false) == (ssize_t)sizeof written;
}

/* Reports to the owner that the client is being served, even if it has taken nothing lately: this
 * front end has the deadlines for the client. The interval is far below the owner's limit for
 * stalled bodies. */
static void report(struct net_tick *tick)
{
    struct forward *f = (struct forward *)(void *)((char *)tick - offsetof(struct forward, tick));

    if (f->link && !f->is_broken)
        f->is_broken = !send_receipt(f, exchange_sent(f->exchange).body_bytes, false);
}

bool forward_end_direct(struct forward *f, uint64_t passed_on)
{
    if (!f->direct)
        return false;
    net_tick_stop(&f->tick);
    direct_read_end(f->direct);
    f->direct = NULL;
    if (f->link && !f->is_broken && send_receipt(f, passed_on, true))
        forward_finish_link(f);
    return true;
}

/* ---- failures ---- */

/* Has the request sent again. Nothing was sent to the client. */
static enum http_step send_again(struct forward *f)
{
    forward_count(FORWARD_DIRECT_FAILED);
    if (!forward_end_direct(f, 0) && f->link) {
        link_drop(f->link);
        f->link = NULL;
    }
    if (f->link)
        link_drop(f->link);
    f->link = NULL;
    f->list = NULL;
    f->listed = 0;
    f->is_refused = true;
    f->is_lost = false;
    forward_forget_response(f);
    return AGAIN;
}

/* ---- the body ---- */

static void on_bytes(struct waiter *waiter)
{
    struct forward *f =
        (struct forward *)(void *)((char *)waiter - offsetof(struct forward, direct_waiter));

    exchange_resume(f->exchange);
}

/* Waits for bytes of the files. Events of the link do not resume the exchange meanwhile. */
static void await_bytes(struct forward *f)
{
    assert(!f->is_paused);
    f->direct_waiter.wake = on_bytes;
    exchange_suspend(f->exchange);
    direct_read_await(f->direct, &f->direct_waiter);
}

static long read_files(struct body_source *source, uint64_t at, char *to, size_t max)
{
    struct forward *f =
        (struct forward *)(void *)((char *)source - offsetof(struct forward, source));
    struct bytes bytes;

    (void)at;
    begin_call(f);
    switch (direct_read_next(f->direct, &bytes)) {
    case DIRECT_WAITS:
        await_bytes(f);
        return BODY_WAIT;
    case DIRECT_FAILED:
        forward_count(FORWARD_DIRECT_FAILED);
        return BODY_FAILED;
    case DIRECT_READY:
        break;
    }
    if (bytes.len < max)
        max = bytes.len;
    memcpy(to, bytes.ptr, max);
    direct_read_use(f->direct, max);
    return (long)max;
}

static enum http_step respond(struct forward *f)
{
    struct response *response = &f->exchange->response;

    exchange_authenticate(f->exchange);
    (void)exchange_charge(f->exchange, NULL);
    f->source.read = read_files;
    f->tick.run = report;
    net_tick_start(exchange_connection(f->exchange), &f->tick);
    response->body_kind = BODY_SOURCE;
    response->source = &f->source;
    response->body_length = f->direct_length;
    return HTTP_RESPOND;
}

/* ---- the list ---- */

/* Removes the header with the body's length, which is not for clients. */
static bool take_length(struct response *response, uint64_t *ret_length)
{
    const struct http_header *header = response_find_header(response, header_name);
    size_t at = (size_t)(header - response->headers);

    if (!bytes_parse_u64(header->value, PIECE_LIST_BODY_MAX, ret_length))
        return false;
    memmove(&response->headers[at], &response->headers[at + 1],
            (response->header_count - at - 1) * sizeof response->headers[0]);
    response->header_count--;
    return !response_find_header(response, header_name);
}

static bool begin_list(struct forward *f)
{
    if (!take_length(&f->exchange->response, &f->direct_length) || f->head.length == 0 ||
        f->head.length > PIECE_LIST_BYTES_MAX) {
        log_line(LOG_ERROR, "a list of pieces from the owner of cell %" PRIu32 " is malformed",
                 f->target.cell);
        return false;
    }
    f->list = arena_bytes(f->exchange->arena, (size_t)f->head.length);
    return true;
}

/* Receives the list. Returns HTTP_RESPOND once it is complete, HTTP_WAIT, or AGAIN. */
static enum http_step receive_list(struct forward *f)
{
    if (!f->list && !begin_list(f))
        return send_again(f);
    while (f->listed < f->head.length) {
        long n = f->link ? forward_receive_body(f, f->list + f->listed,
                                                (size_t)f->head.length - f->listed)
                         : BODY_FAILED;

        if (n == 0)
            return pause_exchange(f);
        if (n < 0)
            return send_again(f);
        f->listed += (size_t)n;
    }
    return HTTP_RESPOND;
}

enum http_step forward_read_list(struct forward *f)
{
    struct bytes first;
    enum http_step step = f->direct ? HTTP_RESPOND : receive_list(f);

    if (step != HTTP_RESPOND)
        return step;
    if (!f->direct)
        f->direct = direct_read_start(f->of->direct, f->target.cell,
                                      bytes_of(f->list, (size_t)f->head.length), f->direct_length);
    if (!f->direct)
        return send_again(f);
    switch (direct_read_next(f->direct, &first)) {
    case DIRECT_WAITS:
        await_bytes(f);
        return HTTP_WAIT;
    case DIRECT_FAILED:
        return send_again(f);
    case DIRECT_READY:
        break;
    }
    return respond(f);
}
