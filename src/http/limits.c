/* The list of connections, and the sweeper that cuts those that are late.
 *
 * MHD's own timeout restarts with every byte, so a client that sends one byte a minute would hold
 * its connection for ever. The sweeper measures what has been achieved instead: a complete head in
 * idle_s, a body that goes on and keeps a least rate. It cuts with shutdown(); MHD then sees the
 * end of the stream and closes the connection in its own time (private invariant 2). */
#include "http/http_private.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#include "base/log.h"

#define CONNECTION_MAGIC 0x6C636F6Eu
#define SWEEP_MS         250

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

/* ---- what the worker says ---- */

static void enter(struct connection *connection, enum phase phase)
{
    uint64_t now = now_ms();

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
    connection->paused_ms = now_ms();
    connection_is_ours(connection);
}

void connection_resumes_body(struct connection *connection)
{
    uint64_t now = now_ms();

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

/* ---- the list ---- */

static void peer_write(struct connection *connection, const struct sockaddr *address)
{
    char text[INET6_ADDRSTRLEN] = "";

    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)address;

        inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
        snprintf(connection->peer, sizeof connection->peer, "%s:%u", text, ntohs(v4->sin_port));
        connection->peer_is_loopback = ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    } else if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)address;
        bool mapped = IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr);

        if (mapped) {
            inet_ntop(AF_INET, &v6->sin6_addr.s6_addr[12], text, sizeof text);
            connection->peer_is_loopback = v6->sin6_addr.s6_addr[12] == IN_LOOPBACKNET;
        } else {
            inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text);
            connection->peer_is_loopback = IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
        }
        snprintf(connection->peer, sizeof connection->peer, mapped ? "%s:%u" : "[%s]:%u", text,
                 ntohs(v6->sin6_port));
    }
}

/* The calling thread, which MHD has bound to the connection. Under server->lock. */
static struct worker *worker_self(struct http_server *server)
{
    pthread_t self = pthread_self();
    unsigned i = 0;

    while (i < server->worker_count && server->workers[i].known &&
           !pthread_equal(server->workers[i].thread, self))
        i++;
    assert(i < server->worker_count);
    server->workers[i].known = true;
    server->workers[i].thread = self;
    return &server->workers[i];
}

struct connection *connection_add(struct http_server *server, struct MHD_Connection *mhd)
{
    struct connection *connection = xcalloc(1, sizeof *connection);
    const union MHD_ConnectionInfo *info;

    connection->magic = CONNECTION_MAGIC;
    connection->server = server;
    info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
    connection->fd = info->connect_fd;
    info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (info && info->client_addr)
        peer_write(connection, info->client_addr);
    connection_awaits_head(connection);

    lock_take(&server->lock);
    connection->worker = worker_self(server);
    connection->next = server->connections;
    if (connection->next)
        connection->next->previous = connection;
    server->connections = connection;
    atomic_fetch_add(&server->connection_count, 1);
    lock_give(&server->lock);
    return connection;
}

void connection_remove(struct connection *connection)
{
    struct http_server *server = connection->server;

    assert(connection->magic == CONNECTION_MAGIC);
    lock_take(&server->lock);
    if (connection->next)
        connection->next->previous = connection->previous;
    if (connection->previous)
        connection->previous->next = connection->next;
    else
        server->connections = connection->next;
    if (atomic_fetch_sub(&server->connection_count, 1) == 1)
        pthread_cond_broadcast(&server->changed);
    lock_give(&server->lock);
    connection->magic = 0;
    free(connection);
}

/* ---- the sweeper ---- */

/* MHD 0.9.75 takes a read that filled less than its buffer for the last one of an edge, and then never
 * hears of an end of the stream that had come with those bytes. */
static bool peer_is_gone(const struct connection *connection)
{
    char byte;

    return recv(connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* Why a connection is to be cut, or NULL. */
static const char *overdue(const struct connection *connection, const struct http_limits *limits,
                           uint64_t now)
{
    int phase = atomic_load_explicit(&connection->phase, memory_order_acquire);
    uint64_t since = atomic_load_explicit(&connection->since_ms, memory_order_relaxed);
    uint64_t last = atomic_load_explicit(&connection->last_ms, memory_order_relaxed);
    uint64_t bytes = atomic_load_explicit(&connection->body_bytes, memory_order_relaxed);
    uint64_t age = now > since ? now - since : 0;
    uint64_t silence = now > last ? now - last : 0;

    if (phase == PHASE_HEAD && age > limits->idle_s * 1000ull)
        return "no complete request head in time";
    if (phase == PHASE_HEAD && atomic_load(&connection->server->stopping))
        return "the server stops";
    if (phase != PHASE_BODY)
        return NULL;
    if (silence > SWEEP_MS && peer_is_gone(connection))
        return "the client went away in a request body";
    if (silence > limits->body_stall_s * 1000ull)
        return "request body stalled";
    if (age > limits->body_rate_grace_s * 1000ull &&
        bytes * 1000u / (age + 1) < limits->body_rate_min)
        return "request body too slow";
    return NULL;
}

static void sweep(struct http_server *server)
{
    uint64_t now = now_ms();

    for (struct connection *c = server->connections; c; c = c->next) {
        const char *why = overdue(c, &server->limits, now);

        if (!why)
            continue;
        if (log_enabled(LOG_DEBUG))
            log_line(LOG_DEBUG, "%s: cut: %s", c->peer, why);
        shutdown(c->fd, SHUT_RDWR);
    }
}

static void *sweeper_run(void *argument)
{
    struct http_server *server = argument;

    pthread_setname_np(pthread_self(), "http-sweeper");
    lock_take(&server->lock);
    while (!server->sweeper_ends) {
        lock_wait(&server->lock, &server->changed, SWEEP_MS);
        sweep(server);
    }
    lock_give(&server->lock);
    return NULL;
}

bool sweeper_start(struct http_server *server)
{
    return pthread_create(&server->sweeper, NULL, sweeper_run, server) == 0;
}

void sweeper_stop(struct http_server *server)
{
    lock_take(&server->lock);
    server->sweeper_ends = true;
    pthread_cond_broadcast(&server->changed);
    lock_give(&server->lock);
    pthread_join(server->sweeper, NULL);
}

void connections_cut(struct http_server *server, enum cut_which which)
{
    lock_take(&server->lock);
    for (struct connection *c = server->connections; c; c = c->next) {
        if (which == CUT_ALL || atomic_load(&c->phase) == PHASE_HEAD)
            shutdown(c->fd, SHUT_RDWR);
    }
    lock_give(&server->lock);
}

bool connections_wait_none(struct http_server *server, int timeout_ms)
{
    uint64_t end = now_ms() + (uint64_t)timeout_ms;
    bool none;

    lock_take(&server->lock);
    for (uint64_t now = now_ms(); server->connections && now < end; now = now_ms())
        lock_wait(&server->lock, &server->changed, (int)(end - now));
    none = !server->connections;
    lock_give(&server->lock);
    return none;
}
