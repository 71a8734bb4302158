/* See peer.h. */
#include "cluster/peer.h"

#include <assert.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "cluster/envelope.h"
#include "cluster/forward.h"
#include "cluster/lease.h"
#include "http/response_head.h"
#include "net/stream.h"

/* Pause between two attempts to find an owner. */
#define PAUSE_MS      50u
/* No attempt is made with less time left than this, because it would only leave open whether the
 * request was executed. */
#define ATTEMPT_MS    200u
/* Interval at which a thread that waits for a response checks that the owner still renews its
 * lease. */
#define CHECK_MS      250u
#define HEAD_MAX      256u
#define RECEIVE_BYTES ((size_t)16 << 10)

struct peer_call {
    struct peers *peers;
    struct arena *arena;
    struct peer_request request;
    uint64_t patient_until_ns;  /* no attempt starts later */
    uint64_t deadline_ns;       /* of the current step */
    struct owner_target target; /* of the last attempt */
    struct net_stream *stream;  /* or NULL */
    bool is_sent;               /* part of the request may have been sent */
    bool is_complete;           /* the entire request was sent */
    bool is_given_up;           /* this process is stopping, or owns the cell itself */
    bool is_closing;            /* the owner closes the connection after its response */
    struct bytes ahead;         /* part of the response's body that was received with its headers */
    uint64_t left;              /* number of unread bytes of the body */
};

/* ---- idle connections ---- */

void peers_init(struct peers *peers, struct route *route, struct net_key *key)
{
    *peers = (struct peers){ .route = route, .key = key };
    lock_init(&peers->lock, RANK_CELLS);
}

void peers_release(struct peers *peers)
{
    for (unsigned i = 0; i < PEER_IDLE_MAX; i++)
        net_stream_close(peers->idle[i].stream);
    lock_destroy(&peers->lock);
}

static bool is_stale(const struct peer_idle *idle, const struct owner_target *target)
{
    return clock_boot_ns() > idle->since_ns + PEER_IDLE_S * 1000 * NS_PER_MS ||
           (idle->cell == target->cell && idle->incarnation != target->incarnation);
}

/* Removes a connection to this owner from the list, or a stale connection, which the caller
 * closes. */
static struct net_stream *take_idle(struct peers *peers, const struct owner_target *target,
                                    bool *ret_is_stale)
{
    struct net_stream *stream = NULL;

    lock_acquire(&peers->lock);
    for (unsigned i = 0; i < PEER_IDLE_MAX && !stream; i++) {
        struct peer_idle *idle = &peers->idle[i];

        if (!idle->stream)
            continue;
        *ret_is_stale = is_stale(idle, target);
        if (*ret_is_stale || idle->cell == target->cell) {
            stream = idle->stream;
            idle->stream = NULL;
        }
    }
    lock_release(&peers->lock);
    return stream;
}

static struct net_stream *reuse(struct peers *peers, const struct owner_target *target)
{
    struct net_stream *stream;
    bool stale = false;

    while ((stream = take_idle(peers, target, &stale))) {
        if (!stale && net_stream_key_is_newest(stream, peers->key) && net_stream_is_quiet(stream))
            return stream;
        net_stream_close(stream);
    }
    return NULL;
}

static void keep(struct peer_call *call)
{
    struct peers *peers = call->peers;
    struct net_stream *stream = call->stream;

    call->stream = NULL;
    lock_acquire(&peers->lock);
    for (unsigned i = 0; i < PEER_IDLE_MAX && stream; i++)
        if (!peers->idle[i].stream) {
            peers->idle[i] = (struct peer_idle){ .stream = stream,
                                                 .cell = call->target.cell,
                                                 .incarnation = call->target.incarnation,
                                                 .since_ns = clock_boot_ns() };
            stream = NULL;
        }
    lock_release(&peers->lock);
    net_stream_close(stream);
}

static void drop(struct peer_call *call)
{
    net_stream_close(call->stream);
    call->stream = NULL;
}

void peers_end(struct peers *peers, unsigned ms)
{
    atomic_store(&peers->ends_ns, clock_boot_ns() + ms * NS_PER_MS);
}

/* Returns the earlier of a deadline and the end of all requests. */
static uint64_t limit(struct peers *peers, uint64_t deadline_ns)
{
    uint64_t ends_ns = atomic_load(&peers->ends_ns);

    return ends_ns > 0 && ends_ns < deadline_ns ? ends_ns : deadline_ns;
}

/* ---- sending ---- */

static struct bytes write_head(const struct peer_call *call, char to[INTRODUCTION_MAX + HEAD_MAX])
{
    struct envelope envelope = { .version = call->target.version,
                                 .service = ENVELOPE_OF_PEER,
                                 .cell = call->target.cell,
                                 .incarnation = call->target.incarnation,
                                 .renewed_ns = call->target.renewed_ns };
    size_t size = envelope_write(&envelope, to);
    int length = snprintf(to + size, HEAD_MAX,
                          "POST %s HTTP/1.1\r\nHost: cell-%u\r\nContent-Length: %zu\r\n\r\n",
                          call->request.path, (unsigned)call->target.cell, call->request.body.len);

    assert(length > 0 && (unsigned)length < HEAD_MAX);
    return bytes_of(to, size + (size_t)length);
}

/* The owner may be closing an idle connection, so a request that must not be executed twice gets a
 * new one. */
static struct net_stream *connect_to(struct peer_call *call)
{
    struct net_peer peer = { .key = call->peers->key,
                             .port = call->target.port,
                             .tag = call->target.incarnation };
    uint64_t limit_ns = clock_boot_ns() + OUTGOING_CONNECT_MS * NS_PER_MS;
    struct net_stream *stream =
        call->request.is_repeatable ? reuse(call->peers, &call->target) : NULL;

    memcpy(peer.address, call->target.address, sizeof peer.address);
    if (stream)
        return stream;
    return net_stream_open(&peer, limit_ns < call->deadline_ns ? limit_ns : call->deadline_ns);
}

/* Attempts to send the request once. */
static void send_once(struct peer_call *call)
{
    char text[INTRODUCTION_MAX + HEAD_MAX];
    enum route_found found;
    uint64_t asked_ns;
    struct bytes head;

    assert(!call->stream);
    call->patient_until_ns = limit(call->peers, call->patient_until_ns);
    call->deadline_ns = call->patient_until_ns;
    call->is_sent = call->is_complete = call->is_closing = false;
    found = route_find(call->peers->route, call->request.cell, &call->target, &asked_ns);
    call->is_given_up = found == ROUTE_CLOSED;
    /* After a pause, the record must be read again: see FORWARD_FRESH_MS. */
    if (found != ROUTE_FOUND || clock_boot_ns() >= asked_ns + FORWARD_FRESH_MS * NS_PER_MS)
        return;
    call->stream = connect_to(call);
    if (!call->stream)
        return;
    head = write_head(call, text);
    call->is_complete =
        net_stream_send(call->stream, head, call->deadline_ns, &call->is_sent) &&
        net_stream_send(call->stream, call->request.body, call->deadline_ns, &call->is_sent);
    if (call->is_complete)
        call->deadline_ns += call->request.response_ms * NS_PER_MS;
}

/* ---- receiving ---- */

/* Receives like net_stream_receive(), up to the call's deadline. Fails once the owner has no lease,
 * because it sends no response then. An owner that has released its cell may have sent one before,
 * so the connection is read once more. */
static ssize_t receive_from(struct peer_call *call, char *to, size_t max)
{
    const struct owner_target *target = &call->target;
    struct peers *peers = call->peers;
    bool is_lost = false;

    for (;;) {
        uint64_t until_ns = clock_boot_ns() + CHECK_MS * NS_PER_MS;
        uint64_t deadline_ns = limit(peers, call->deadline_ns);
        ssize_t n = net_stream_receive(call->stream, to, max,
                                       until_ns < deadline_ns ? until_ns : deadline_ns);

        if (n >= 0 || clock_boot_ns() < until_ns || until_ns >= deadline_ns || is_lost)
            return n;
        is_lost = route_has_lost(peers->route, target->cell, target->incarnation);
    }
}

/* Appends received data to the input. Returns false if the connection was closed or the deadline
 * has passed. */
static bool receive_some(struct peer_call *call, struct text *input)
{
    ssize_t n;

    text_reserve(input, RECEIVE_BYTES);
    n = receive_from(call, input->ptr + input->len, RECEIVE_BYTES);
    if (n <= 0)
        return false;
    input->len += (size_t)n;
    return true;
}

static bool fail_malformed(const struct peer_call *call, const char *what)
{
    log_line(LOG_ERROR, "cell %u: the response of its owner to %s %s", (unsigned)call->target.cell,
             call->request.path, what);
    return false;
}

/* Reads the headers of the final response. An interim response is not allowed here. */
static bool receive_head(struct peer_call *call, struct text *input, struct response_head *ret_head)
{
    struct response response;
    size_t searched = 0;

    response_init(&response, call->arena);
    for (;;) {
        struct bytes there = text_bytes(input);

        switch (response_head_read(there, searched, &response, ret_head)) {
        case RESPONSE_WHOLE:
            return ret_head->status >= 200 || fail_malformed(call, "has an interim status");
        case RESPONSE_MALFORMED:
            return fail_malformed(call, "is malformed");
        case RESPONSE_PART:
            break;
        }
        searched = there.len;
        if (!receive_some(call, input))
            return false;
    }
}

/* Receives the headers of the response. */
static bool receive_start(struct peer_call *call, int *ret_status)
{
    struct response_head head;
    struct text input;

    text_init(&input, call->arena, RECEIVE_BYTES);
    if (!receive_head(call, &input, &head))
        return false;
    if (input.len - head.size > head.length)
        return fail_malformed(call, "is followed by more data");
    call->is_closing = head.closes;
    call->ahead = bytes_of(input.ptr + head.size, input.len - head.size);
    call->left = head.length;
    *ret_status = head.status;
    return true;
}

static size_t read_body(struct peer_call *call, char *to, size_t max)
{
    size_t count = max < call->left ? max : (size_t)call->left;
    ssize_t n;

    if (call->ahead.len > 0) {
        count = count < call->ahead.len ? count : call->ahead.len;
        memcpy(to, call->ahead.ptr, count);
        call->ahead = bytes_of(call->ahead.ptr + count, call->ahead.len - count);
    } else {
        n = receive_from(call, to, count);
        count = n > 0 ? (size_t)n : 0;
    }
    call->left -= count;
    return count;
}

static bool receive(struct peer_call *call, struct peer_response *ret_response)
{
    size_t length, done = 0;
    char *body;

    if (!receive_start(call, &ret_response->status))
        return false;
    if (call->left > call->request.response_max)
        return fail_malformed(call, "is too long");
    length = (size_t)call->left;
    body = arena_bytes(call->arena, length);
    while (done < length) {
        size_t count = read_body(call, body + done, length - done);

        if (count == 0)
            return false;
        done += count;
    }
    ret_response->body = bytes_of(body, length);
    return true;
}

/* ---- the entire call ---- */

static uint64_t patience_ns(const struct peer_request *request)
{
    return (request->timeout_ms ? request->timeout_ms : PEER_PATIENCE_MS) * NS_PER_MS;
}

struct peer_call *peer_begin(struct peers *peers, const struct peer_request *request,
                             struct arena *arena)
{
    struct peer_call *call = arena_alloc(arena, sizeof *call);

    assert(request->response_max <= PEER_BODY_MAX);
    call->peers = peers;
    call->arena = arena;
    call->request = *request;
    call->patient_until_ns = clock_boot_ns() + patience_ns(request);
    send_once(call);
    return call;
}

/* Keeps the connection for reuse, or closes it. */
static void finish(struct peer_call *call)
{
    if (call->is_closing || call->left > 0)
        drop(call);
    else if (call->stream)
        keep(call);
}

/* Waits for the response, or for its headers if it is streamed. Retries the request while that is
 * safe. */
static enum peer_result wait_for(struct peer_call *call, bool is_streamed,
                                 struct peer_response *ret_response)
{
    for (;;) {
        bool has_response =
            call->is_complete && (is_streamed ? receive_start(call, &ret_response->status)
                                              : receive(call, ret_response));

        if (has_response && ret_response->status != FORWARD_NOT_OWNER)
            return PEER_OK;
        drop(call);
        if (!has_response && call->is_sent && !call->request.is_repeatable)
            return PEER_LOST;
        if (call->is_given_up ||
            clock_boot_ns() + (PAUSE_MS + ATTEMPT_MS) * NS_PER_MS >= call->patient_until_ns)
            return !has_response && call->is_sent ? PEER_LOST : PEER_NO_OWNER;
        thread_sleep_ns(PAUSE_MS * NS_PER_MS);
        send_once(call);
    }
}

enum peer_result peer_end(struct peer_call *call, struct peer_response *ret_response)
{
    enum peer_result result = wait_for(call, false, ret_response);

    if (result == PEER_OK)
        finish(call);
    return result;
}

enum peer_result peer_end_head(struct peer_call *call, int *ret_status, uint64_t *ret_length)
{
    struct peer_response response = { .status = 0 };
    enum peer_result result = wait_for(call, true, &response);

    *ret_status = response.status;
    *ret_length = call->left;
    return result;
}

size_t peer_read(struct peer_call *call, char *to, size_t max)
{
    assert(max > 0 && call->left > 0);
    call->deadline_ns = clock_boot_ns() + patience_ns(&call->request);
    return read_body(call, to, max);
}

void peer_close(struct peer_call *call)
{
    finish(call);
}

enum peer_result peer_ask(struct peers *peers, const struct peer_request *request,
                          struct arena *arena, struct peer_response *ret_response)
{
    return peer_end(peer_begin(peers, request, arena), ret_response);
}
