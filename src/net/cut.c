/* Disconnects connections that have missed a deadline (limits.c) and, when the server stops, first
 * idle connections, then all. Shuts down the socket; the worker then sees the end of the stream and
 * closes it. */
#include "base/log.h"
#include "net/net_private.h"

#include <errno.h>
#include <sys/socket.h>

/* Returns false for an outgoing connection that has just been claimed for a request. */
static bool may_cut(struct connection *c)
{
    return !c->is_outgoing || atomic_load(&c->phase) != PHASE_REQUEST ||
           connection_claim_to_close(c);
}

static void sweep_list(const struct connection_list *list)
{
    uint64_t now = clock_coarse_ms();

    for (struct connection *c = list->first; c; c = c->next) {
        const char *why = connection_timeout_reason(c, now);

        if (!why || !may_cut(c))
            continue;
        if (log_enabled(LOG_DEBUG))
            log_line(LOG_DEBUG, "%s: closed: %s", c->peer, why);
        shutdown(c->fd, SHUT_RDWR);
    }
}

void connections_sweep(struct net_server *server)
{
    lock_acquire(&server->lock);
    sweep_list(&server->untrusted);
    sweep_list(&server->trusted);
    lock_release(&server->lock);
}

static void cut(struct connection *c, enum cut_which which)
{
    int phase = atomic_load(&c->phase);

    if (which == CUT_ALL || ((phase == PHASE_REQUEST || phase == PHASE_CLOSE) && may_cut(c)))
        shutdown(c->fd, SHUT_RDWR);
}

static void cut_list(const struct connection_list *list, enum cut_which which)
{
    for (struct connection *c = list->first; c; c = c->next)
        cut(c, which);
}

void net_cut_outgoing(struct net_server *server, uint64_t first, uint64_t end, enum cut_which which)
{
    lock_acquire(&server->lock);
    for (struct connection *c = server->trusted.first; c; c = c->next)
        if (c->is_outgoing && c->tag >= first && c->tag < end)
            cut(c, which);
    lock_release(&server->lock);
}

void connections_cut(struct net_server *server, enum cut_which which)
{
    lock_acquire(&server->lock);
    cut_list(&server->untrusted, which);
    cut_list(&server->trusted, which);
    lock_release(&server->lock);
}

/* Closes a connection whose client may still be sending the rest of a request that was refused
 * before it was read, or data after a malformed request. If close() leaves unread bytes, the kernel
 * resets the connection, and a client that has not yet read its response loses it. Therefore only
 * the server's side is closed, and received bytes are discarded until the client closes. The time,
 * the number of bytes and the number of such connections are limited. rfc: 9112 9.6; decision:
 * 272 */

bool linger_begin(struct connection *connection)
{
    struct net_server *server = connection->server;

    /* A refused connection has its own deadline, and its slot is needed for the next refusal. */
    if (connection->refused || atomic_load_explicit(&server->stopping, memory_order_relaxed))
        return false;
    if (atomic_fetch_add(&server->lingering, 1) >= overflow_connections(&server->limits)) {
        atomic_fetch_sub(&server->lingering, 1);
        return false;
    }
    input_free(&connection->input);
    transport_end(connection, TRANSPORT_HALF_CLOSED);
    connection->lingers = true;
    connection->readable = true; /* so that the socket is read at least once */
    connection_awaits_close(connection);
    return true;
}

void linger_end(struct connection *connection)
{
    if (connection->lingers)
        atomic_fetch_sub(&connection->server->lingering, 1);
    connection->lingers = false;
}

enum turn linger_step(struct connection *connection)
{
    uint64_t sum = atomic_load_explicit(&connection->body_bytes, memory_order_relaxed);
    ssize_t n;

    if (!connection->readable)
        return TURN_WAITS;
    if (sum >= connection->server->limits.linger_max_bytes)
        return TURN_ENDS;
    /* Bypasses TLS, since the bytes are discarded. */
    do {
        n = recv(connection->fd, connection->worker->input, CONNECTION_INPUT_BYTES, 0);
    } while (n < 0 && errno == EINTR);
    if (n > 0) {
        connection_got_part(connection, (size_t)n);
        return TURN_GOES_ON;
    }
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        connection->readable = false;
        return TURN_WAITS;
    }
    return TURN_ENDS;
}
