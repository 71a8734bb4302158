/* The connections of a server: which are admitted, closed to make room for others, or refused.
 *
 * A server that is full takes a new connection in the place of an idle one: first the oldest on
 * which nobody has been authenticated, then the oldest on which somebody has. Idle is a connection
 * that has not begun a request, one that has its last answer, and an unauthenticated one also while
 * the rest of a request comes (which is thrown away). So clients that open connections and send
 * nothing displace only each other. If no connection is idle, the new connection is admitted only to
 * be refused in words of its protocol, a few at a time; beyond those it is closed at once.
 *
 * The limit for one address is kept the same way among the connections of that address. */
#include "net/net_private.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/episode.h"
#include "base/log.h"

#define CONNECTION_MAGIC 0x6C636F6Eu

/* ---- whose it is ---- */

static void peer_write(struct connection *connection, const struct sockaddr *address)
{
    static const uint8_t mapped_prefix[12] = { [10] = 0xFF, [11] = 0xFF };
    char text[INET6_ADDRSTRLEN] = "";

    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)address;

        inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
        snprintf(connection->peer, sizeof connection->peer, "%s:%u", text, ntohs(v4->sin_port));
        connection->peer_is_loopback = ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
        memcpy(connection->address, mapped_prefix, sizeof mapped_prefix);
        memcpy(connection->address + sizeof mapped_prefix, &v4->sin_addr, 4);
    } else if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)address;
        bool mapped = IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr);

        memcpy(connection->address, &v6->sin6_addr, sizeof connection->address);
        if (mapped) {
            inet_ntop(AF_INET, &v6->sin6_addr.s6_addr[12], text, sizeof text);
            connection->peer_is_loopback = v6->sin6_addr.s6_addr[12] == IN_LOOPBACKNET;
        } else {
            inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text);
            connection->peer_is_loopback = IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
        }
        snprintf(connection->peer, sizeof connection->peer, mapped ? "%s:%u" : "[%s]:%u", text,
                 ntohs(v6->sin6_port));
    } else {
        snprintf(connection->peer, sizeof connection->peer, "local");
        connection->peer_is_loopback = true;
    }
}

static struct connection **bucket_of(struct net_server *server, const struct connection *c)
{
    uint64_t high, low;

    memcpy(&high, c->address, sizeof high);
    memcpy(&low, c->address + sizeof high, sizeof low);
    return &server->addresses[((high ^ low) * 0x9E3779B97F4A7C15u >> 32) % ADDRESS_BUCKETS];
}

static bool same_address(const struct connection *a, const struct connection *b)
{
    return memcmp(a->address, b->address, sizeof a->address) == 0;
}

/* ---- the lists, all under server->lock ---- */

/* Asserts what the lists and the counts of a server say of each other. */
static void assert_lists(const struct net_server *server)
{
    lock_assert_held(&server->lock);
    assert(!server->trusted.first == !server->trusted.last);
    assert(!server->untrusted.first == !server->untrusted.last);
    assert((server->connection_count == 0) == (!server->trusted.first && !server->untrusted.first));
    assert(server->evicted_count + server->refused_count <= server->connection_count);
}

static void list_append(struct connection_list *list, struct connection *c)
{
    assert(!list->last || !list->last->next);
    c->previous = list->last;
    c->next = NULL;
    if (list->last)
        list->last->next = c;
    else
        list->first = c;
    list->last = c;
}

static void list_remove(struct connection_list *list, struct connection *c)
{
    assert(c->next ? c->next->previous == c : list->last == c);
    assert(c->previous ? c->previous->next == c : list->first == c);
    if (c->next)
        c->next->previous = c->previous;
    else
        list->last = c->previous;
    if (c->previous)
        c->previous->next = c->next;
    else
        list->first = c->next;
}

static struct connection_list *list_of(struct net_server *server, const struct connection *c)
{
    return c->trusted ? &server->trusted : &server->untrusted;
}

static void add(struct net_server *server, struct connection *c)
{
    list_append(list_of(server, c), c);
    if (server->limits.connections_per_address_max > 0) {
        struct connection **bucket = bucket_of(server, c);

        c->next_of_address = *bucket;
        *bucket = c;
    }
    server->connection_count++;
    server->refused_count += c->refused;
    c->worker->connections++;
    assert_lists(server);
}

static void forget(struct net_server *server, struct connection *c)
{
    list_remove(list_of(server, c), c);
    if (server->limits.connections_per_address_max > 0) {
        struct connection **link = bucket_of(server, c);

        while (*link != c)
            link = &(*link)->next_of_address;
        *link = c->next_of_address;
    }
    assert(server->connection_count > 0 && c->worker->connections > 0);
    assert(server->evicted_count >= c->is_evicted && server->refused_count >= c->refused);
    c->worker->connections--;
    server->evicted_count -= c->is_evicted;
    server->refused_count -= c->refused;
    if (--server->connection_count == 0)
        pthread_cond_broadcast(&server->changed);
    assert_lists(server);
    c->magic = 0;
    free(c);
}

/* ---- room, under server->lock ---- */

static bool is_idle(const struct connection *c)
{
    int phase = atomic_load_explicit(&c->phase, memory_order_acquire);

    return !c->is_evicted && !c->refused &&
           (phase == PHASE_REQUEST || phase == PHASE_CLOSE || (phase == PHASE_BODY && !c->trusted));
}

static void give_way(struct connection *c)
{
    if (log_enabled(LOG_DEBUG))
        log_line(LOG_DEBUG, "%s: cut: idle, and others want its place", c->peer);
    assert(c->magic == CONNECTION_MAGIC && !c->is_evicted && !c->refused);
    c->is_evicted = true;
    c->server->evicted_count++;
    shutdown(c->fd, SHUT_RDWR);
}

static struct connection *oldest_idle(const struct connection_list *list)
{
    struct connection *c = list->first;

    while (c && !is_idle(c))
        c = c->next;
    return c;
}

static bool make_room(struct net_server *server)
{
    struct connection *idle = oldest_idle(&server->untrusted);

    if (!idle)
        idle = oldest_idle(&server->trusted);
    if (idle)
        give_way(idle);
    return idle != NULL;
}

bool connections_make_room(struct net_server *server)
{
    bool made;

    lock_take(&server->lock);
    made = make_room(server);
    lock_give(&server->lock);
    return made;
}

/* Whether the address of c may have one more connection, if need be in the place of an idle one.
 * The last in the bucket that may be closed is the oldest. */
static bool address_has_room(struct net_server *server, const struct connection *c)
{
    struct connection *untrusted = NULL;
    struct connection *trusted = NULL;
    unsigned count = 0;

    if (server->limits.connections_per_address_max == 0)
        return true;
    for (struct connection *other = *bucket_of(server, c); other; other = other->next_of_address) {
        if (!same_address(other, c))
            continue;
        count += !other->is_evicted && !other->refused;
        if (is_idle(other) && other->trusted)
            trusted = other;
        else if (is_idle(other))
            untrusted = other;
    }
    if (count < server->limits.connections_per_address_max)
        return true;
    if (!untrusted && !trusted)
        return false;
    give_way(untrusted ? untrusted : trusted);
    return true;
}

static bool is_full(const struct net_server *server)
{
    assert_lists(server);
    return server->connection_count - server->evicted_count - server->refused_count >=
           server->limits.connections_max;
}

/* ---- admission ---- */

/* The first of those with the fewest connections, counted from a place that moves on, so that
 * equals take turns. */
static struct worker *least_loaded(struct net_server *server)
{
    struct worker *least = NULL;

    assert(server->worker_count > 0);
    for (unsigned i = 0; i < server->worker_count; i++) {
        struct worker *w = &server->workers[(server->next_worker + i) % server->worker_count];

        if (!least || w->connections < least->connections)
            least = w;
    }
    server->next_worker = (unsigned)(least - server->workers) + 1;
    return least;
}

static struct connection *connection_new(struct net_server *server, int fd,
                                         const struct sockaddr *address)
{
    struct connection *c = xcalloc(1, server->protocol->connection_bytes);

    c->magic = CONNECTION_MAGIC;
    c->server = server;
    c->fd = fd;
    peer_write(c, address);
    c->accepted_ms = monotonic_ms();
    connection_awaits_request(c);
    return c;
}

static bool may_grow(const struct net_server *server)
{
    return server->evicted_count < overflow_connections(&server->limits);
}

bool connections_may_grow(struct net_server *server)
{
    bool may;

    lock_take(&server->lock);
    may = may_grow(server);
    server->acceptor_waits = !may;
    lock_give(&server->lock);
    return may;
}

/* Wakes the acceptor if it waits and need not any longer: each place that it waits for would
 * otherwise cost it RETRY_MS, and a crowd of idle connections, one place each, would keep others
 * out for minutes. */
static void let_grow(struct net_server *server)
{
    if (!server->acceptor_waits || !may_grow(server))
        return;
    server->acceptor_waits = false;
    acceptor_wake(server);
}

struct connection *connection_admit(struct net_server *server, int fd,
                                    const struct sockaddr *address)
{
    struct connection *c = connection_new(server, fd, address);
    bool crowded, dropped, refused;

    lock_take(&server->lock);
    crowded = !address_has_room(server, c);
    refused = crowded || (is_full(server) && !make_room(server));
    c->refused = refused;
    dropped = c->refused && server->refused_count >= overflow_connections(&server->limits);
    if (!dropped) {
        c->worker = least_loaded(server);
        add(server, c);
    }
    lock_give(&server->lock);
    if (refused)
        episode_refused(crowded ? EPISODE_ADDRESS : EPISODE_CONNECTIONS);
    if (!dropped)
        return c;
    free(c);
    return NULL;
}

void connection_remove(struct connection *connection)
{
    struct net_server *server = connection->server;

    assert(connection->magic == CONNECTION_MAGIC);
    lock_take(&server->lock);
    forget(server, connection);
    let_grow(server);
    lock_give(&server->lock);
}

void connection_trust(struct connection *connection)
{
    struct net_server *server = connection->server;

    assert(connection->magic == CONNECTION_MAGIC);
    if (connection->trusted)
        return;
    lock_take(&server->lock);
    list_remove(&server->untrusted, connection);
    connection->trusted = true;
    list_append(&server->trusted, connection);
    assert_lists(server);
    lock_give(&server->lock);
}

/* ---- cutting ---- */

static void sweep_list(const struct connection_list *list)
{
    uint64_t now = monotonic_ms();

    for (struct connection *c = list->first; c; c = c->next) {
        const char *why = connection_timeout_reason(c, now);

        if (!why)
            continue;
        if (log_enabled(LOG_DEBUG))
            log_line(LOG_DEBUG, "%s: cut: %s", c->peer, why);
        shutdown(c->fd, SHUT_RDWR);
    }
}

void connections_sweep(struct net_server *server)
{
    lock_take(&server->lock);
    sweep_list(&server->untrusted);
    sweep_list(&server->trusted);
    lock_give(&server->lock);
}

static void cut_list(const struct connection_list *list, enum cut_which which)
{
    for (const struct connection *c = list->first; c; c = c->next) {
        int phase = atomic_load(&c->phase);

        if (which == CUT_ALL || phase == PHASE_REQUEST || phase == PHASE_CLOSE)
            shutdown(c->fd, SHUT_RDWR);
    }
}

void connections_cut(struct net_server *server, enum cut_which which)
{
    lock_take(&server->lock);
    cut_list(&server->untrusted, which);
    cut_list(&server->trusted, which);
    lock_give(&server->lock);
}

bool connections_wait_none(struct net_server *server, int timeout_ms)
{
    uint64_t end = monotonic_ms() + (uint64_t)timeout_ms;
    bool none;

    lock_take(&server->lock);
    for (uint64_t now = monotonic_ms(); server->connection_count > 0 && now < end;
         now = monotonic_ms())
        lock_wait(&server->lock, &server->changed, (int)(end - now));
    none = server->connection_count == 0;
    lock_give(&server->lock);
    return none;
}

unsigned connections_count(struct net_server *server)
{
    unsigned count;

    lock_take(&server->lock);
    assert_lists(server);
    count = server->connection_count;
    lock_give(&server->lock);
    return count;
}
