/* The response to a forwarded request: see forward.h. */
#include "cluster/forward_private.h"

#include <assert.h>
#include <inttypes.h>

#include "base/clock.h"
#include "base/log.h"
#include "cluster/refusal.h"

enum http_step forward_refuse(struct forward *f)
{
    struct exchange *exchange = f->exchange;
    char id[GUID_TEXT_SIZE];

    if (f->link)
        link_drop(f->link);
    f->link = NULL;
    f->is_busy = true;
    response_init(&exchange->response, exchange->arena);
    guid_format(&exchange->request.id, id);
    response_header(&exchange->response, bytes_from_string("x-ms-request-id"),
                    arena_copy(exchange->arena, bytes_from_string(id)));
    if (is_probe(f))
        return refusal_respond(
            exchange, 503, "text/plain",
            bytes_from_string("standing by: the owner of the cell cannot be reached\n"));
    return refusal_busy(exchange, f->of->is_json);
}

bool forward_may_move(const struct forward *f)
{
    return f->head.status == FORWARD_NOT_OWNER && f->moves < FORWARD_MOVES_MAX &&
           (f->taken == 0 || f->to->is_kept);
}

/* Handles a refusal: the receiver does not own the cell, or the container is elsewhere. Nothing was
 * executed. */
static enum http_step after_refusal(struct forward *f)
{
    bool may_move = forward_may_move(f), is_moved;

    if (response_find_header(&f->exchange->response, bytes_from_string(FORWARD_LEAVES)))
        route_refused(f->of->route, f->target.cell, f->target.incarnation);
    if (f->link)
        forward_finish_link(f);
    is_moved = forward_learn(f->to, &f->exchange->response);
    if (!may_move)
        return forward_refuse(f);
    if (is_moved) {
        f->moves++;
        f->avoided.incarnation = 0;
        f->rests = f->to->placement == 0 && f->moves > 1;
    }
    forward_forget_response(f);
    f->after_ns = is_moved ? 0 : clock_boot_ns();
    return AGAIN;
}

/* ---- body ---- */

static long read_body(struct body_source *source, uint64_t at, char *to, size_t max)
{
    struct forward *f =
        (struct forward *)(void *)((char *)source - offsetof(struct forward, source));
    long n;

    (void)at;
    begin_call(f);
    if (!f->link)
        return BODY_FAILED;
    n = forward_receive_body(f, to, max < f->left ? max : (size_t)f->left);
    if (n > 0) {
        f->left -= (uint64_t)n;
        if (f->left == 0)
            forward_finish_link(f);
    } else if (n == 0) {
        (void)pause_exchange(f);
        return BODY_WAIT;
    }
    return n;
}

/* ---- head ---- */

/* Ends a request whose owner sent a list of pieces that was not asked for. The request is not sent
 * again, because its body may have been used. */
static enum http_step cut_off(struct forward *f)
{
    log_line(LOG_ERROR, "the owner of cell %" PRIu32 " sent a list of pieces without being asked",
             f->target.cell);
    if (f->link)
        link_drop(f->link);
    f->link = NULL;
    return HTTP_CUT;
}

enum http_step forward_respond(struct forward *f)
{
    struct response *response = &f->exchange->response;
    bool is_head = f->exchange->request.method == METHOD_HEAD;

    if (f->is_busy)
        return HTTP_RESPOND;
    if (f->head.status == FORWARD_NOT_OWNER)
        return after_refusal(f);
    if (forward_is_list(f))
        return f->asks_pieces ? forward_read_list(f) : cut_off(f);
    if (response->status < 400)
        exchange_authenticate(f->exchange);
    (void)exchange_charge(f->exchange, NULL);
    if (f->head.length > 0) {
        f->source.read = read_body;
        response->body_kind = BODY_SOURCE;
        response->source = &f->source;
        response->body_length = f->head.length;
    }
    f->left = is_head ? 0 : f->head.length;
    if (f->left == 0 && f->link)
        forward_finish_link(f);
    return HTTP_RESPOND;
}

bool forward_receive_head(struct forward *f)
{
    struct connection *connection = &f->link->net;
    struct exchange *exchange = f->exchange;
    struct bytes there;
    ssize_t n;

    while (!f->has_response) {
        there = input_bytes(&connection->input);
        switch (response_head_read(there, f->searched, &exchange->response, &f->head)) {
        case RESPONSE_PART:
            f->searched = there.len;
            if (!connection->readable && !f->is_broken)
                return true;
            n = input_receive(connection, CONNECTION_INPUT_BYTES);
            if (n <= 0)
                return n == TRANSPORT_WAITS;
            break;
        case RESPONSE_WHOLE:
            input_use(&connection->input, f->head.size);
            f->searched = 0;
            f->has_response = f->head.status != 100;
            f->has_continue |= !f->has_response;
            if (!f->has_response)
                response_init(&exchange->response, exchange->arena);
            break;
        case RESPONSE_MALFORMED:
            log_line(LOG_ERROR, "%s: a response to a forwarded request is malformed",
                     connection->peer);
            return false;
        }
    }
    return true;
}
