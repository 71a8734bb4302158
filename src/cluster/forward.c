/* See forward.h. */
#include "cluster/forward.h"

#include <assert.h>
#include <stdio.h>
#include <sys/uio.h>

#include "base/clock.h"
#include "base/log.h"
#include "cluster/envelope.h"
#include "cluster/lease.h"
#include "cluster/link.h"
#include "cluster/refusal.h"
#include "http/response_head.h"

/* "\r\n", a size in hex, "\r\n" */
#define FRAME_BYTES 24u

struct forward {
    struct link_user user; /* first */
    struct waiter waiter;  /* for another read of the owner's record */
    struct body_source source;
    struct exchange *exchange;
    const struct forwarding *of;
    struct owner_target target; /* of the last attempt */
    struct link *link;          /* NULL: none, or no more */
    uint64_t began_ns, deadline_ns;
    uint64_t avoided;  /* incarnation that cannot be reached */
    uint64_t after_ns; /* the record must have been read later than this */
    bool is_tried;     /* there was an attempt */
    /* The request. */
    struct bytes unsent; /* of envelope and head */
    struct bytes frame;  /* of the framing of a chunked body, not sent yet */
    char frame_text[FRAME_BYTES];
    size_t chunk_left;   /* of the chunk that is being sent */
    uint64_t taken;      /* bytes of the body */
    bool has_chunk;      /* a chunk was sent */
    bool has_last_chunk; /* its frame was made */
    bool is_sent;        /* some of it may have been */
    bool is_complete;    /* all of it was */
    bool is_broken;      /* it cannot be sent any more; there may be a response */
    bool is_lost;        /* the link was closed */
    bool in_body;        /* body() comes next, or is paused */
    bool is_paused;      /* the exchange waits for the link or for an owner */
    /* The response. */
    size_t searched; /* bytes of its head that were looked through */
    struct response_head head;
    bool has_continue, has_response;
    bool is_busy;  /* we respond 503 ourselves */
    uint64_t left; /* of its body */
};

/* Beside those of enum http_step: another attempt. */
#define AGAIN ((enum http_step)99)

static struct forward *forward_of(struct exchange *exchange)
{
    return exchange->application;
}

static bool has_body(const struct forward *f)
{
    return f->exchange->request.content_length != 0;
}

static bool is_chunked(const struct forward *f)
{
    return f->exchange->request.content_length == HTTP_LENGTH_UNKNOWN;
}

/* A health check asks how things are now. */
static bool is_probe(const struct forward *f)
{
    return bytes_is(f->exchange->request.path, FORWARD_PATH_READY);
}

/* ---- pauses ---- */

static enum http_step pause_exchange(struct forward *f)
{
    f->is_paused = true;
    exchange_suspend(f->exchange);
    return HTTP_WAIT;
}

static void resume(struct forward *f)
{
    if (!f->is_paused)
        return;
    f->is_paused = false;
    exchange_resume(f->exchange);
}

/* On the main thread, while nothing else touches the forward. */
static void on_read(struct waiter *waiter)
{
    struct forward *f =
        (struct forward *)(void *)((char *)waiter - offsetof(struct forward, waiter));

    exchange_resume(f->exchange);
}

/* ---- our own responses ---- */

static enum http_step refuse(struct forward *f)
{
    struct exchange *exchange = f->exchange;

    if (f->link)
        link_drop(f->link);
    f->link = NULL;
    f->is_busy = true;
    response_init(&exchange->response, exchange->arena);
    if (is_probe(f))
        return refusal_respond(
            exchange, 503, "text/plain",
            bytes_from_string("stands by: the owner of the cell cannot be reached\n"));
    return refusal_busy(exchange, f->of->is_json);
}

/* ---- finding an owner and a link ---- */

static enum http_step await_owner(struct forward *f)
{
    if (is_probe(f) || clock_boot_ns() >= f->deadline_ns)
        return refuse(f);
    if (f->after_ns == 0)
        forward_count(FORWARD_WAITED);
    f->after_ns = f->after_ns ? f->after_ns : 1;
    f->waiter.wake = on_read;
    f->is_paused = true;
    exchange_suspend(f->exchange);
    route_wait(f->of->route, &f->waiter); /* touch it no more */
    return HTTP_WAIT;
}

/* The authority goes along if a proxy has said it. Returns false if it is too long. */
static bool find_authority(const struct request *request, struct bytes *ret_authority)
{
    struct bytes host = request_header(request, "host");

    *ret_authority = (struct bytes){ NULL, 0 };
    if (!request->authority.ptr || bytes_equal(request->authority, host))
        return true;
    *ret_authority = request->authority;
    return request->authority.len <= ENVELOPE_AUTHORITY_MAX;
}

static bool prepare(struct forward *f)
{
    const struct request *request = &f->exchange->request;
    struct bytes head = request_head(request);
    struct envelope envelope = {
        .service = f->of->service,
        .cell = f->target.cell,
        .incarnation = f->target.incarnation,
        .said = { .is_tls = request->secure, .is_forwarded = request->is_forwarded },
    };
    char written[INTRODUCTION_MAX], *all;
    size_t size;

    envelope.said.client_is_known =
        address_read(request->peer, envelope.said.client, &envelope.said.port);
    if (!find_authority(request, &envelope.said.authority))
        return false;
    size = envelope_write(&envelope, written);
    all = arena_alloc(f->exchange->arena, size + head.len);
    memcpy(all, written, size);
    memcpy(all + size, head.ptr, head.len);
    f->unsent = bytes_of(all, size + head.len);
    f->frame = bytes_of("", 0);
    f->chunk_left = 0;
    f->has_chunk = f->has_last_chunk = false;
    return true;
}

/* A name that is too long is none. */
static enum http_step refuse_authority(struct forward *f)
{
    f->is_busy = true;
    return refusal_respond(f->exchange, 400, "text/plain",
                           bytes_from_string("the host name is too long\n"));
}

/* Returns HTTP_WANT_BODY if there is a link, which may not be up yet. */
static enum http_step find_link(struct forward *f)
{
    struct net_peer peer = { .key = f->of->key };
    struct owner_target target;
    uint64_t asked_ns;

    switch (route_find(f->of->route, &f->exchange->request, &target, &asked_ns)) {
    case ROUTE_CLOSED:
        return refuse(f);
    case ROUTE_NO_OWNER:
        return await_owner(f);
    case ROUTE_FOUND:
        break;
    }
    if (target.incarnation == f->avoided || (f->after_ns > 1 && asked_ns <= f->after_ns))
        return await_owner(f);
    f->target = target;
    if (!prepare(f))
        return refuse_authority(f);
    memcpy(peer.address, target.address, sizeof peer.address);
    peer.port = target.port;
    peer.tag = target.incarnation;
    if (f->is_tried)
        forward_count(FORWARD_RETRIED);
    f->is_tried = true;
    f->link = link_take(exchange_connection(f->exchange), &peer, &f->user);
    return f->link ? HTTP_WANT_BODY : refuse(f);
}

/* Returns HTTP_WANT_BODY once there is a link that is up. */
static enum http_step ready_link(struct forward *f)
{
    enum http_step step = f->link ? HTTP_WANT_BODY : find_link(f);

    if (step != HTTP_WANT_BODY)
        return step;
    return f->link->is_up ? HTTP_WANT_BODY : pause_exchange(f);
}

/* Nothing was sent by this link: its owner cannot be reached, unless it has closed a link that was idle. */
static void avoid(struct forward *f)
{
    if (!f->link->is_reused)
        f->avoided = f->target.incarnation;
}

/* The link was closed before there was a response. */
static enum http_step after_loss(struct forward *f)
{
    if (f->is_sent)
        return is_probe(f) ? refuse(f) : HTTP_CUT;
    f->is_lost = false;
    return AGAIN;
}

/* ---- sending ---- */

static void use(struct bytes *part, size_t *sent)
{
    size_t some = *sent < part->len ? *sent : part->len;

    *part = bytes_from(*part, some);
    *sent -= some;
}

/* Sends what is left of head and framing, and from the run. Returns as transport_send(). */
static ssize_t send_some(struct forward *f, struct bytes run, size_t *ret_taken)
{
    struct bytes of[] = { f->unsent, f->frame, run };
    struct iovec parts[3];
    size_t count = 0, sent;
    ssize_t n;

    *ret_taken = 0;
    for (size_t i = 0; i < 3; i++)
        if (of[i].len > 0)
            parts[count++] =
                (struct iovec){ .iov_base = (void *)(uintptr_t)of[i].ptr, .iov_len = of[i].len };
    assert(count > 0);
    if (!f->link->net.writable)
        return TRANSPORT_WAITS;
    n = transport_send(&f->link->net, parts, count, false);
    f->is_sent |= n != TRANSPORT_FAILED; /* also a record that the socket has not taken yet */
    if (n < 0)
        return n;
    sent = (size_t)n;
    use(&f->unsent, &sent);
    use(&f->frame, &sent);
    assert(sent <= run.len);
    *ret_taken = sent;
    return n;
}

/* The socket takes nothing more. Perhaps the owner has responded before it closed the connection. */
static void send_failed(struct forward *f)
{
    if (f->is_sent) {
        f->is_broken = true;
        connection_wake(&f->link->net);
        return;
    }
    avoid(f);
    link_drop(f->link);
    f->link = NULL;
    f->is_lost = true;
}

static void set_frame(struct forward *f, const char *text)
{
    snprintf(f->frame_text, sizeof f->frame_text, "%s%s", f->has_chunk ? "\r\n" : "", text);
    f->frame = bytes_from_string(f->frame_text);
}

/* What of the run is sent next, in a chunk if the body came in chunks. */
static struct bytes next_run(struct forward *f, struct bytes data)
{
    char size[FRAME_BYTES - 2];

    if (!is_chunked(f))
        return data;
    if (f->chunk_left == 0) {
        snprintf(size, sizeof size, "%zx\r\n", data.len);
        set_frame(f, size);
        f->chunk_left = data.len;
        f->has_chunk = true;
    }
    return bytes_of(data.ptr, data.len < f->chunk_left ? data.len : f->chunk_left);
}

/* ---- the response ---- */

/* The link has done its part. */
static void finish_link(struct forward *f)
{
    struct link *link = f->link;

    f->link = NULL;
    if (f->is_complete && !f->head.closes && !f->is_broken &&
        input_bytes(&link->net.input).len == 0)
        link_give(link);
    else
        link_drop(link);
}

static long read_body(struct body_source *source, uint64_t at, char *to, size_t max);

/* The receiver does not own the cell: nothing was executed. */
static enum http_step after_refusal(struct forward *f)
{
    if (f->link)
        finish_link(f);
    if (f->taken > 0)
        return refuse(f);
    response_init(&f->exchange->response, f->exchange->arena);
    f->has_response = f->has_continue = f->is_sent = f->is_complete = f->is_broken = false;
    f->after_ns = clock_boot_ns();
    return AGAIN;
}

static enum http_step respond(struct forward *f)
{
    struct response *response = &f->exchange->response;
    bool is_head = f->exchange->request.method == METHOD_HEAD;

    if (f->is_busy)
        return HTTP_RESPOND;
    if (f->head.status == FORWARD_NOT_OWNER)
        return after_refusal(f);
    if (response->status < 400)
        exchange_authenticate(f->exchange);
    (void)exchange_charge(f->exchange);
    if (f->head.length > 0) {
        f->source.read = read_body;
        response->body_kind = BODY_SOURCE;
        response->source = &f->source;
        response->body_length = f->head.length;
    }
    f->left = is_head ? 0 : f->head.length;
    if (f->left == 0 && f->link)
        finish_link(f);
    return HTTP_RESPOND;
}

static long receive_body(struct forward *f, char *to, size_t max)
{
    struct connection *connection = &f->link->net;
    struct bytes there = input_bytes(&connection->input);
    size_t size = there.len < max ? there.len : max;

    if (size > 0) {
        memcpy(to, there.ptr, size);
        input_use(&connection->input, size);
    }
    while (size < max && connection->readable) {
        ssize_t n = transport_receive(connection, to + size, max - size);

        if (n == TRANSPORT_WAITS)
            break;
        if (n <= 0)
            return size > 0 ? (long)size : BODY_FAILED;
        size += (size_t)n;
    }
    return (long)size;
}

static long read_body(struct body_source *source, uint64_t at, char *to, size_t max)
{
    struct forward *f =
        (struct forward *)(void *)((char *)source - offsetof(struct forward, source));
    long n;

    (void)at;
    f->is_paused = false;
    if (!f->link)
        return BODY_FAILED;
    n = receive_body(f, to, max < f->left ? max : (size_t)f->left);
    if (n > 0) {
        f->left -= (uint64_t)n;
        if (f->left == 0)
            finish_link(f);
    } else if (n == 0) {
        (void)pause_exchange(f);
        return BODY_WAIT;
    }
    return n;
}

/* Reads heads, the last one of which is the response's. Returns false if the link is to be closed. */
static bool receive_head(struct forward *f)
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

/* The client is still sending its body, and nothing else would notice. */
static void respond_early(struct forward *f)
{
    enum http_step step = respond(f);

    if (step ==
        AGAIN) /* its body stays where it is, and the request is not to be tried from here */
        step = refuse(f);
    f->in_body = false;
    exchange_end_body(f->exchange, step);
}

static bool on_turn(struct link_user *user)
{
    struct forward *f = (struct forward *)(void *)user;
    bool had_continue = f->has_continue;

    if (!f->is_sent || f->has_response) {
        resume(f); /* the link is up; or the response's body */
        return true;
    }
    if (!receive_head(f))
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
        avoid(f);
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

/* Brings the request to where its next part can be sent. Returns HTTP_WANT_BODY there. */
static enum http_step advance(struct forward *f)
{
    enum http_step step;

    do {
        if (f->has_response || f->is_busy)
            step = respond(f);
        else
            step = f->is_lost ? after_loss(f) : ready_link(f);
    } while (step == AGAIN);
    return step == HTTP_WANT_BODY && f->is_broken ? pause_exchange(f) : step;
}

/* Sends the rest of head and framing. Returns HTTP_WANT_BODY when it is sent, AGAIN after a failure. */
static enum http_step flush(struct forward *f)
{
    size_t none;

    while (f->unsent.len + f->frame.len > 0) {
        ssize_t n = send_some(f, bytes_of("", 0), &none);

        if (n == TRANSPORT_WAITS)
            return pause_exchange(f);
        if (n < 0) {
            send_failed(f);
            return AGAIN;
        }
    }
    return HTTP_WANT_BODY;
}

static struct forward *forward_new(struct exchange *exchange, const struct forwarding *of)
{
    struct forward *f = arena_alloc(exchange->arena, sizeof *f);

    f->user = (struct link_user){ .turn = on_turn, .lost = on_lost };
    f->exchange = exchange;
    f->of = of;
    f->began_ns = clock_monotonic_ns();
    f->deadline_ns = clock_boot_ns() + FORWARD_PATIENCE_MS * NS_PER_MS;
    exchange->application = f;
    return f;
}

/* A body without Expect goes out together with its head. */
static enum http_step step_head(struct forward *f)
{
    bool sends_now = !has_body(f) || f->exchange->request.expects;
    enum http_step step = advance(f);

    if (step != HTTP_WANT_BODY || !sends_now || f->has_continue)
        return step;
    step = flush(f);
    if (step != HTTP_WANT_BODY)
        return step;
    f->is_complete = !has_body(f);
    return pause_exchange(f);
}

enum http_step forward_head(struct exchange *exchange, const struct forwarding *of)
{
    struct forward *f = forward_of(exchange);
    enum http_step step;

    if (!f)
        f = forward_new(exchange, of);
    f->is_paused = false;
    do {
        step = step_head(f);
    } while (step == AGAIN);
    f->in_body = step == HTTP_WANT_BODY;
    return step;
}

/* Sends from the data. Returns HTTP_WANT_BODY if some was taken. */
static enum http_step step_body(struct forward *f, struct bytes data, size_t *ret_taken)
{
    enum http_step step = advance(f);
    ssize_t n;

    *ret_taken = 0;
    if (step != HTTP_WANT_BODY)
        return step;
    n = send_some(f, next_run(f, data), ret_taken);
    if (n == TRANSPORT_WAITS)
        return pause_exchange(f);
    if (n < 0) {
        send_failed(f);
        return AGAIN;
    }
    f->taken += *ret_taken;
    f->chunk_left -= is_chunked(f) ? *ret_taken : 0;
    return *ret_taken > 0 ? HTTP_WANT_BODY : AGAIN;
}

enum http_step forward_body(struct exchange *exchange, struct bytes data, size_t *ret_taken)
{
    struct forward *f = forward_of(exchange);
    enum http_step step;

    *ret_taken = 0;
    if (!f) /* refused by the front end itself */
        return HTTP_RESPOND;
    f->is_paused = false;
    if (exchange->server_is_busy)
        return f->is_sent ? HTTP_CUT : refuse(f);
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
    if (is_chunked(f) && !f->has_last_chunk) {
        set_frame(f, "0\r\n\r\n");
        f->has_last_chunk = true;
    }
    step = flush(f);
    if (step != HTTP_WANT_BODY)
        return step;
    f->is_complete = true;
    return pause_exchange(f);
}

enum http_step forward_end(struct exchange *exchange)
{
    struct forward *f = forward_of(exchange);
    enum http_step step;

    f->is_paused = f->in_body = false;
    do {
        step = step_end(f);
    } while (step == AGAIN);
    return step;
}

bool forward_cancel(struct exchange *exchange)
{
    struct forward *f = forward_of(exchange);

    if (!f)
        return true;
    if (f->is_sent || f->link || f->is_busy || f->has_response)
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

    if (!f)
        return;
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
        .to = to,
        .ns = clock_monotonic_ns() - f->began_ns,
        .received = f->taken,
        .sent = sent.body_bytes,
    };
    forward_count_request(f->of->service, logged.result, logged.ns, logged.received, logged.sent);
    if (f->of->log)
        f->of->log(&logged);
}
