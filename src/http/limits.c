/* How far each connection has come, and which are late.
 *
 * MHD's own timeout restarts with every byte, so a client that sends one byte a minute would hold
 * its connection for ever. What is measured here instead is what has been achieved: a complete head in
 * idle_s, a body that goes on and keeps a least rate. The acceptor cuts who is late with shutdown();
 * MHD then sees the end of the stream and closes the connection in its own time (private
 * invariant 2). */
#include "http/http_private.h"

#include <sys/socket.h>
#include <time.h>

/* A body's peer is looked for after so long a silence. */
#define SILENCE_MS   250
/* A refused client has this long to take its answer. */
#define REFUSED_MS   10000u
/* A worker that has not begun a connection for so long never will. */
#define NOT_BEGUN_MS 5000u

uint64_t monotonic_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

/* ---- progress ---- */

static void enter(struct connection *connection, enum phase phase)
{
    uint64_t now = monotonic_ms();

    atomic_store_explicit(&connection->since_ms, now, memory_order_relaxed);
    atomic_store_explicit(&connection->last_ms, now, memory_order_relaxed);
    atomic_store_explicit(&connection->body_bytes, 0, memory_order_relaxed);
    connection->paused_ms = 0;
    /* Last: who sees the phase sees its times. */
    atomic_store_explicit(&connection->phase, (int)phase, memory_order_release);
}

void connection_awaits_head(struct connection *connection)
{
    enter(connection, PHASE_HEAD);
}

void connection_awaits_body(struct connection *connection)
{
    enter(connection, PHASE_BODY);
}

void connection_is_ours(struct connection *connection)
{
    atomic_store_explicit(&connection->phase, (int)PHASE_OURS, memory_order_relaxed);
}

/* A pause is our own doing: the client is not late meanwhile, nor does its rate suffer. */
void connection_pauses(struct connection *connection)
{
    connection->paused_ms = monotonic_ms();
    connection_is_ours(connection);
}

void connection_resumes_body(struct connection *connection)
{
    uint64_t now = monotonic_ms();

    if (connection->paused_ms != 0) {
        atomic_fetch_add_explicit(&connection->since_ms, now - connection->paused_ms,
                                  memory_order_relaxed);
        connection->paused_ms = 0;
    }
    atomic_store_explicit(&connection->last_ms, now, memory_order_relaxed);
    atomic_store_explicit(&connection->phase, (int)PHASE_BODY, memory_order_release);
}

void connection_got_body(struct connection *connection, size_t bytes)
{
    atomic_fetch_add_explicit(&connection->body_bytes, bytes, memory_order_relaxed);
}

/* ---- lateness ---- */

/* MHD 0.9.75 takes a read that filled less than its buffer for the last one of an edge, and then never
 * hears of an end of the stream that had come with those bytes. */
static bool peer_is_gone(const struct connection *connection)
{
    char byte;

    return recv(connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

static const char *body_lateness(const struct connection *connection, uint64_t age,
                                 uint64_t silence)
{
    const struct http_limits *limits = &connection->server->limits;
    uint64_t bytes = atomic_load_explicit(&connection->body_bytes, memory_order_relaxed);

    if (silence > SILENCE_MS && peer_is_gone(connection))
        return "the client went away in a request body";
    if (silence > limits->body_stall_s * 1000ull)
        return "request body stalled";
    if (age > limits->body_rate_grace_s * 1000ull &&
        bytes * 1000u / (age + 1) < limits->body_rate_min)
        return "request body too slow";
    return NULL;
}

const char *connection_lateness(const struct connection *connection, uint64_t now_ms)
{
    int phase = atomic_load_explicit(&connection->phase, memory_order_acquire);
    uint64_t since = atomic_load_explicit(&connection->since_ms, memory_order_relaxed);
    uint64_t last = atomic_load_explicit(&connection->last_ms, memory_order_relaxed);
    uint64_t age = now_ms > since ? now_ms - since : 0;
    uint64_t silence = now_ms > last ? now_ms - last : 0;

    if (!connection->begun)
        return age > NOT_BEGUN_MS ? "libmicrohttpd did not take it" : NULL;
    if (phase == PHASE_HEAD && age > connection->server->limits.idle_s * 1000ull)
        return "no complete request head in time";
    if (phase == PHASE_HEAD && atomic_load(&connection->server->stopping))
        return "the server stops";
    if (connection->refused && now_ms - connection->accepted_ms > REFUSED_MS)
        return "did not take its refusal in time";
    if (phase == PHASE_BODY)
        return body_lateness(connection, age, silence);
    return NULL;
}
