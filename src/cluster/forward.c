/* See forward.h. */
#include "cluster/forward_private.h"

#include "base/clock.h"
#include "cluster/lease.h"
#include "cluster/refusal.h"

/* ---- finding an owner and a link ---- */

/* Called on the main thread, while no other thread uses the forward. */
static void on_read(struct waiter *waiter)
{
    struct forward *f =
        (struct forward *)(void *)((char *)waiter - offsetof(struct forward, waiter));

    exchange_resume(f->exchange);
}

static enum http_step await_owner(struct forward *f)
{
    if (is_probe(f) || clock_boot_ns() >= f->deadline_ns)
        return forward_refuse(f);
    if (f->after_ns == 0)
        forward_count(FORWARD_WAITED);
    f->after_ns = f->after_ns ? f->after_ns : 1;
    f->waiter.wake = on_read;
    f->is_paused = true;
    exchange_suspend(f->exchange);
    route_wait(f->of->route, &f->waiter); /* f may be in use by another thread from here */
    return HTTP_WAIT;
}

/* Refuses an authority that is too long for the envelope; no DNS name is that long. */
static enum http_step refuse_authority(struct forward *f)
{
    f->is_busy = true;
    return refusal_respond(f->exchange, 400, "text/plain",
                           bytes_from_string("the host name is too long\n"));
}

/* Has head() called again, because this front end may own the cell by now. */
static enum http_step call_again(struct forward *f)
{
    if (f->is_closed || f->in_body)
        return forward_refuse(f);
    f->is_closed = true;
    (void)pause_exchange(f);
    resume(f);
    return HTTP_WAIT;
}

static bool is_avoided(const struct forward *f, const struct owner_target *target)
{
    return target->incarnation == f->avoided.incarnation &&
           target->renewed_ns == f->avoided.renewed_ns;
}

/* Finds the owner and a link to it. Returns HTTP_WANT_BODY if there is a link, which may not be up
 * yet. */
static enum http_step find_link(struct forward *f)
{
    struct net_peer peer = { .key = f->of->key };
    struct owner_target target;
    uint64_t asked_ns;

    switch (route_find(f->of->route, f->to->cell, &target, &asked_ns)) {
    case ROUTE_CLOSED:
        return call_again(f);
    case ROUTE_NO_OWNER:
        return await_owner(f);
    case ROUTE_FOUND:
        break;
    }
    if (f->rests) {
        f->rests = false;
        return await_owner(f);
    }
    if (is_avoided(f, &target) || (f->after_ns > 1 && asked_ns <= f->after_ns) ||
        clock_boot_ns() >= asked_ns + FORWARD_FRESH_MS * NS_PER_MS)
        return await_owner(f);
    f->target = target;
    if (!forward_prepare(f))
        return refuse_authority(f);
    memcpy(peer.address, target.address, sizeof peer.address);
    peer.port = target.port;
    peer.tag = route_tag(target.cell, target.incarnation);
    if (f->is_tried)
        forward_count(FORWARD_RETRIED);
    f->is_tried = true;
    f->link = link_take(exchange_connection(f->exchange), &peer, &f->user);
    if (f->link)
        return HTTP_WANT_BODY;
    f->avoided = target;
    return await_owner(f);
}

/* Waits for a link that is up. Returns HTTP_WANT_BODY once there is one. */
static enum http_step ready_link(struct forward *f)
{
    enum http_step step = f->link ? HTTP_WANT_BODY : find_link(f);

    if (step != HTTP_WANT_BODY)
        return step;
    return f->link->is_up ? HTTP_WANT_BODY : pause_exchange(f);
}

/* Handles a link that was closed before the response arrived. */
static enum http_step after_loss(struct forward *f)
{
    if (f->is_sent)
        return is_probe(f) ? forward_refuse(f) : HTTP_CUT;
    f->is_lost = false;
    return AGAIN;
}

/* ---- events of the link ---- */

/* Responds while the client is still sending its body. Called because the exchange makes no call
 * until more of the body arrives. */
static void respond_early(struct forward *f)
{
    enum http_step step;

    if (forward_may_move(f)) /* moves when the next part of the body arrives */
        return;
    step = forward_respond(f);
    if (step == AGAIN) /* no call of the exchange is in progress that could try again */
        step = forward_refuse(f);
    f->in_body = false;
    exchange_end_body(f->exchange, step);
}

static bool on_turn(struct link_user *user)
{
    struct forward *f = (struct forward *)(void *)user;
    bool had_continue = f->has_continue;

    if (!f->is_sent || f->has_response) {
        resume(f); /* the link is up, or has more of the response's body */
        return true;
    }
    if (!forward_receive_head(f))
        return false;
    if (f->has_response && f->in_body && !f->is_paused)
        respond_early(f);
    else if (f->has_response || f->has_continue != had_continue || f->link->net.writable)
        resume(f);
    return true;
}

static void on_lost(struct link_user *user)
{
    struct forward *f = (struct forward *)(void *)user;

    if (!f->is_sent)
        forward_avoid(f);
    f->link = NULL;
    f->is_lost = true;
    if (f->in_body && !f->is_paused && f->is_sent && !f->has_response) {
        f->in_body = false;
        exchange_end_body(f->exchange, HTTP_CUT);
    } else {
        resume(f);
    }
}

/* ---- steps ---- */

/* Advances the request until its next part can be sent. Returns HTTP_WANT_BODY at that point. */
static enum http_step advance(struct forward *f)
{
    enum http_step step;

    do {
        if (f->has_response || f->is_busy)
            step = forward_respond(f);
        else
            step = f->is_lost ? after_loss(f) : ready_link(f);
    } while (step == AGAIN);
    return step == HTTP_WANT_BODY && f->is_broken ? pause_exchange(f) : step;
}

static struct forward *forward_new(struct exchange *exchange, const struct forwarding *of,
                                   struct forward_to *to)
{
    struct forward *f = arena_alloc(exchange->arena, sizeof *f);

    f->user = (struct link_user){ .turn = on_turn, .lost = on_lost };
    f->exchange = exchange;
    f->of = of;
    f->to = to;
    f->taken = to->kept.len;
    f->began_ns = clock_monotonic_ns();
    f->deadline_ns = clock_boot_ns() + FORWARD_PATIENCE_MS * NS_PER_MS;
    if (guid_is_zero(&exchange->request.id))
        exchange->request.id = guid_new();
    exchange->application = f;
    return f;
}

/* Sends the request header. If a body follows for which the receiver need not ask (is_announced()),
 * the header is sent together with its first part. */
static enum http_step step_head(struct forward *f)
{
    bool sends_now = !has_body(f) || is_announced(f);
    enum http_step step = advance(f);

    if (step != HTTP_WANT_BODY || !sends_now || f->has_continue)
        return step;
    step = forward_flush(f);
    if (step != HTTP_WANT_BODY)
        return step;
    f->is_complete = !has_body(f);
    return pause_exchange(f);
}

void forward_begin(struct exchange *exchange, const struct forwarding *of, struct forward_to *to)
{
    (void)forward_new(exchange, of, to);
}

enum http_step forward_head(struct exchange *exchange, const struct forwarding *of,
                            struct forward_to *to)
{
    struct forward *f = forward_of(exchange);
    enum http_step step;

    if (!f)
        f = forward_new(exchange, of, to);
    begin_call(f);
    do {
        step = step_head(f);
    } while (step == AGAIN);
    f->in_body = step == HTTP_WANT_BODY;
    return step;
}

/* Sends from `data`. Returns HTTP_WANT_BODY if some of it was sent. */
static enum http_step step_body(struct forward *f, struct bytes data, size_t *ret_taken)
{
    enum http_step step = advance(f);

    *ret_taken = 0;
    if (step != HTTP_WANT_BODY)
        return step;
    step = forward_send(f, forward_next_run(f, data), ret_taken);
    if (step != HTTP_WANT_BODY)
        return step;
    forward_keep(f->to, f->exchange, bytes_of(data.ptr, *ret_taken));
    f->taken += *ret_taken;
    f->chunk_left -= is_chunked(f) ? *ret_taken : 0;
    return *ret_taken > 0 ? HTTP_WANT_BODY : AGAIN;
}

enum http_step forward_body(struct exchange *exchange, struct bytes data, size_t *ret_taken)
{
    struct forward *f = forward_of(exchange);
    enum http_step step;

    *ret_taken = 0;
    if (!f) /* this front end refused the request itself */
        return HTTP_RESPOND;
    begin_call(f);
    if (exchange->server_is_busy)
        return f->is_sent ? HTTP_CUT : forward_refuse(f);
    do {
        size_t some;

        step = step_body(f, bytes_from(data, *ret_taken), &some);
        *ret_taken += some;
    } while (step == AGAIN || (step == HTTP_WANT_BODY && *ret_taken < data.len));
    f->in_body = step == HTTP_WANT_BODY || step == HTTP_WAIT;
    return step;
}

static enum http_step step_end(struct forward *f)
{
    enum http_step step = advance(f);

    if (step != HTTP_WANT_BODY)
        return step;
    if (is_chunked(f) && !f->has_last_chunk)
        forward_end_chunks(f);
    step = forward_flush(f);
    if (step != HTTP_WANT_BODY)
        return step;
    f->is_complete = true;
    return pause_exchange(f);
}

enum http_step forward_end(struct exchange *exchange)
{
    struct forward *f = forward_of(exchange);
    enum http_step step;

    begin_call(f);
    f->in_body = false;
    do {
        step = step_end(f);
    } while (step == AGAIN);
    return step;
}

bool forward_cancel(struct exchange *exchange, uint32_t cell)
{
    struct forward *f = forward_of(exchange);

    if (!f)
        return true;
    if (f->to->cell != cell || f->is_sent || f->link || f->is_busy || f->has_response)
        return false;
    exchange->application = NULL;
    return true;
}

/* ---- the end ---- */

static enum forward_result result_of(const struct forward *f, bool is_whole)
{
    if (f->is_busy)
        return FORWARD_BUSY;
    if (is_whole)
        return FORWARD_RESPONDED;
    return f->is_lost ? FORWARD_LOST : FORWARD_ABANDONED;
}

void forward_done(struct exchange *exchange)
{
    struct forward *f = forward_of(exchange);
    struct exchange_sent sent = exchange_sent(exchange);
    char to[ADDRESS_TEXT_MAX] = "";
    struct forward_logged logged;
    bool is_direct;

    if (!f)
        return;
    is_direct = forward_end_direct(f, sent.body_bytes);
    if (f->link)
        link_drop(f->link);
    f->link = NULL;
    if (f->is_tried)
        address_write(f->target.address, f->target.port, to);
    logged = (struct forward_logged){
        .service = f->of->name,
        .result = result_of(f, sent.is_whole),
        .request = &exchange->request,
        .status = sent.head_bytes > 0 ? exchange->response.status : 0,
        .cell = f->to->cell,
        .to = to,
        .ns = clock_monotonic_ns() - f->began_ns,
        .waited_ns = f->waited_ns,
        .received = f->taken,
        .sent = sent.body_bytes,
        .is_direct = is_direct,
    };
    forward_count_request(f->of->service, logged.cell, logged.result, logged.ns, logged.received,
                          is_direct ? 0 : logged.sent);
    if (is_direct)
        forward_count_direct(f->of->service, logged.sent);
    if (f->of->log)
        f->of->log(&logged);
}
