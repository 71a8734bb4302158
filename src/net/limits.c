/* Progress of connections, and their deadlines.
 *
 * If a timeout restarted with every byte, a client that sends one byte a minute could hold its
 * connection forever. Therefore progress is measured: a request must start within idle_s, and its
 * rest must arrive at a minimum rate. The acceptor shuts down the sockets of connections that miss
 * a deadline; the worker then sees the end of the stream and closes the connection (private
 * invariant 2). */
#include "net/net_private.h"

#include <netinet/in.h>
#include <linux/tcp.h>
#include <sys/socket.h>

#include "base/memory_budget.h"

/* While memory is short, time after which a connection is closed if its client receives nothing of
 * its response */
#define SHORT_STALL_MS 5000u
/* Time limit for a refused client to receive its refusal */
#define REFUSED_MS     10000u

/* ---- progress ---- */

static void enter(struct connection *connection, enum phase phase)
{
    uint64_t now = clock_coarse_ms();

    atomic_store_explicit(&connection->since_ms, now, memory_order_relaxed);
    atomic_store_explicit(&connection->last_ms, now, memory_order_relaxed);
    atomic_store_explicit(&connection->body_bytes, 0, memory_order_relaxed);
    connection->paused_ms = 0;
    /* Written last, because other threads read the phase before its times. */
    atomic_store_explicit(&connection->phase, (int)phase, memory_order_release);
}

void connection_awaits_request(struct connection *connection)
{
    enter(connection, PHASE_REQUEST);
}

void connection_awaits_peer(struct connection *connection)
{
    enter(connection, PHASE_CONNECT);
}

void connection_awaits_body(struct connection *connection)
{
    enter(connection, PHASE_BODY);
}

void connection_is_ours(struct connection *connection)
{
    atomic_store_explicit(&connection->phase, (int)PHASE_OURS, memory_order_relaxed);
}

static bool leave_idle(struct connection *connection, enum phase phase)
{
    int idle = PHASE_REQUEST;

    return atomic_compare_exchange_strong(&connection->phase, &idle, (int)phase);
}

bool connection_claim(struct connection *connection)
{
    return leave_idle(connection, PHASE_OURS);
}

bool connection_claim_to_close(struct connection *connection)
{
    return leave_idle(connection, PHASE_CLOSE);
}

/* Starts measuring how fast the client receives the response. */
void connection_awaits_taking(struct connection *connection)
{
    if (atomic_load_explicit(&connection->phase, memory_order_relaxed) == PHASE_ANSWER)
        return;
    atomic_store_explicit(&connection->answer_begins, true, memory_order_relaxed);
    atomic_store_explicit(&connection->phase, (int)PHASE_ANSWER, memory_order_release);
}

void connection_awaits_close(struct connection *connection)
{
    enter(connection, PHASE_CLOSE);
}

/* Records that the server has paused reading the body. The pause does not count against the
 * client's deadline or rate. */
void connection_pauses(struct connection *connection)
{
    connection->paused_ms = clock_coarse_ms();
    connection_is_ours(connection);
}

void connection_resumes_body(struct connection *connection)
{
    uint64_t now = clock_coarse_ms();

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

void connection_got_part(struct connection *connection, size_t bytes)
{
    connection_got_body(connection, bytes);
    atomic_store_explicit(&connection->last_ms, clock_coarse_ms(), memory_order_relaxed);
}

/* ---- deadlines ---- */

static const char *request_lateness(const struct connection *connection, uint64_t age)
{
    if (age > connection->server->limits.idle_s * 1000ull)
        return "no request in time";
    if (atomic_load(&connection->server->stopping))
        return "the server is stopping";
    return NULL;
}

static const char *body_lateness(const struct connection *connection, uint64_t age,
                                 uint64_t silence)
{
    const struct net_limits *limits = &connection->server->limits;
    uint64_t bytes = atomic_load_explicit(&connection->body_bytes, memory_order_relaxed);

    if (silence > limits->body_stall_s * 1000ull)
        return "request body stalled";
    if (age > limits->body_rate_grace_s * 1000ull &&
        bytes * 1000u / (age + 1) < limits->body_rate_min)
        return "request body too slow";
    return NULL;
}

static const char *close_lateness(const struct connection *connection, uint64_t age,
                                  uint64_t silence)
{
    const struct net_limits *limits = &connection->server->limits;

    if (silence > limits->linger_stall_s * 1000ull)
        return "has its last response, but does not close";
    if (age > limits->linger_s * 1000ull)
        return "has its last response, but is still sending";
    return NULL;
}

/* Asks the kernel, because bytes that the socket accepted may still be in its buffer. */
static uint64_t acknowledged_bytes(const struct connection *connection)
{
    struct tcp_info info = { .tcpi_state = 0 };
    socklen_t size = sizeof info;

    if (getsockopt(connection->fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
        return 0;
    return info.tcpi_bytes_acked;
}

static const char *answer_lateness(struct connection *connection, uint64_t now_ms)
{
    const struct net_limits *limits = &connection->server->limits;
    uint64_t bytes = acknowledged_bytes(connection);
    uint64_t stall_ms =
        memory_budget_is_short() ? SHORT_STALL_MS : limits->answer_stall_s * 1000ull;

    if (atomic_exchange_explicit(&connection->answer_begins, false, memory_order_relaxed)) {
        connection->window_bytes = bytes;
        connection->window_ms = now_ms;
        connection->acked_ms = now_ms;
    }
    if (bytes != connection->acked_bytes)
        connection->acked_ms = now_ms;
    connection->acked_bytes = bytes;
    if (now_ms - connection->acked_ms > stall_ms)
        return "the client is not reading its response";
    if (now_ms - connection->window_ms <= limits->answer_rate_s * 1000ull)
        return NULL;
    if ((bytes - connection->window_bytes) * 1000u / (now_ms - connection->window_ms) <
        limits->answer_rate_min)
        return "the client is reading its response too slowly";
    connection->window_bytes = bytes;
    connection->window_ms = now_ms;
    return NULL;
}

static const char *outgoing_lateness(const struct connection *connection, int phase, uint64_t age)
{
    if (phase == PHASE_CONNECT && age > OUTGOING_CONNECT_MS)
        return "the peer did not accept the connection in time";
    if (phase == PHASE_REQUEST && age > OUTGOING_IDLE_MS)
        return "idle";
    if (phase == PHASE_REQUEST && atomic_load(&connection->server->stopping))
        return "the server is stopping";
    return NULL;
}

static bool is_stranger_too_long(const struct connection *connection, uint64_t now_ms)
{
    uint64_t limit_ms = connection->server->limits.stranger_s * 1000ull;

    return limit_ms > 0 && !connection->trusted && now_ms > connection->accepted_ms + limit_ms;
}

const char *connection_timeout_reason(struct connection *connection, uint64_t now_ms)
{
    int phase = atomic_load_explicit(&connection->phase, memory_order_acquire);
    uint64_t since = atomic_load_explicit(&connection->since_ms, memory_order_relaxed);
    uint64_t last = atomic_load_explicit(&connection->last_ms, memory_order_relaxed);
    uint64_t age = now_ms > since ? now_ms - since : 0;
    uint64_t silence = now_ms > last ? now_ms - last : 0;

    if (connection->is_outgoing)
        return outgoing_lateness(connection, phase, age);
    if (connection->refused && now_ms - connection->accepted_ms > REFUSED_MS)
        return "did not receive its refusal in time";
    if (is_stranger_too_long(connection, now_ms))
        return "did not authenticate in time";
    if (phase == PHASE_REQUEST)
        return request_lateness(connection, age);
    if (phase == PHASE_BODY)
        return body_lateness(connection, age, silence);
    if (phase == PHASE_ANSWER)
        return answer_lateness(connection, now_ms);
    if (phase == PHASE_CLOSE)
        return close_lateness(connection, age, silence);
    return NULL;
}
