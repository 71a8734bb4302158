/* Decides which connections of a server are admitted, closed for new ones, or refused.
 *
 * A full server closes an idle connection for a new one: first the oldest unauthenticated one, then
 * the oldest authenticated one. A connection is idle if it has not started a request or has its
 * last response; an unauthenticated one is also idle while the rest of its request arrives, which
 * is then discarded. Clients that open connections and send nothing therefore displace only each
 * other. If no connection is idle, the new connection is admitted only to be refused with a
 * response of its protocol. A few connections can be refused this way at a time; others are closed
 * at once.
 *
 * The limit for one address is enforced in the same way among the connections of that address. A
 * connection of a trusted proxy counts towards its client's address while it serves a client, and
 * otherwise towards none. */
#include "net/net_private.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/episode.h"
#include "base/log.h"
#include "net/proxy_header.h"

#define CONNECTION_MAGIC 0x6C636F6Eu

/* ---- addresses ---- */

static struct connection **bucket_of(struct net_server *server, const struct connection *c)
{
    uint64_t high, low;

    memcpy(&high, c->address, sizeof high);
    memcpy(&low, c->address + sizeof high, sizeof low);
    return &server->addresses[((high ^ low) * 0x9E3779B97F4A7C15u >> 32) % ADDRESS_BUCKETS];
}

/* Returns true if the connection counts towards no address, because its client is not known yet or
 * it belongs to a trusted proxy. */
static bool is_proxys(const struct connection *c)
{
    return c->awaits_header || c->speaks_for_others;
}

static bool same_address(const struct connection *a, const struct connection *b)
{
    return memcmp(a->address, b->address, sizeof a->address) == 0;
}

/* ---- lists, protected by server->lock ---- */

/* Asserts that the lists and the counts of a server are consistent. */
static void assert_lists(const struct net_server *server)
{
    lock_assert_held(&server->lock);
    assert(!server->trusted.first == !server->trusted.last);
    assert(!server->untrusted.first == !server->untrusted.last);
    assert((server->connection_count == 0) == (!server->trusted.first && !server->untrusted.first));
    assert(server->evicted_count + server->refused_count + server->outgoing_count <=
           server->connection_count);
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

static void count_address(struct connection *c)
{
    struct connection **bucket = bucket_of(c->server, c);

    lock_assert_held(&c->server->lock);
    if (c->server->limits.connections_per_address_max == 0 || c->is_counted)
        return;
    c->next_of_address = *bucket;
    *bucket = c;
    c->is_counted = true;
}

static void forget_address(struct connection *c)
{
    struct connection **link = bucket_of(c->server, c);

    lock_assert_held(&c->server->lock);
    if (!c->is_counted)
        return;
    while (*link != c)
        link = &(*link)->next_of_address;
    *link = c->next_of_address;
    c->is_counted = false;
}

static void add(struct net_server *server, struct connection *c)
{
    list_append(list_of(server, c), c);
    if (!is_proxys(c) && !c->is_outgoing)
        count_address(c);
    server->connection_count++;
    server->refused_count += c->refused;
    server->outgoing_count += c->is_outgoing;
    c->worker->connections++;
    assert_lists(server);
}

static void forget(struct net_server *server, struct connection *c)
{
    list_remove(list_of(server, c), c);
    forget_address(c);
    assert(server->connection_count > 0 && c->worker->connections > 0);
    assert(server->evicted_count >= c->is_evicted && server->refused_count >= c->refused);
    c->worker->connections--;
    server->evicted_count -= c->is_evicted;
    server->refused_count -= c->refused;
    server->outgoing_count -= c->is_outgoing;
    if (--server->connection_count == 0)
        pthread_cond_broadcast(&server->changed);
    assert_lists(server);
    c->magic = 0;
    free(c);
}

/* ---- slots, protected by server->lock ---- */

/* Returns true if the connection may be closed for a new one. A peer with the key is never closed,
 * because it may already be sending a request, which would be lost. */
static bool is_idle(const struct connection *c)
{
    int phase = atomic_load_explicit(&c->phase, memory_order_acquire);

    return !c->is_evicted && !c->refused && !c->is_outgoing && !(c->server->key && c->trusted) &&
           (phase == PHASE_REQUEST || phase == PHASE_CLOSE || (phase == PHASE_BODY && !c->trusted));
}

static void give_way(struct connection *c)
{
    if (log_enabled(LOG_DEBUG))
        log_line(LOG_DEBUG, "%s: closed: idle, and its slot is needed", c->peer);
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

    lock_acquire(&server->lock);
    made = make_room(server);
    lock_release(&server->lock);
    return made;
}

/* Returns true if the address of c may have one more connection, closing an idle one if necessary.
 * The oldest idle connection is the last one in the bucket. */
static bool count_has_room(struct net_server *server, const struct connection *c)
{
    struct connection *untrusted = NULL;
    struct connection *trusted = NULL;
    unsigned count = 0;

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

static bool address_has_room(struct net_server *server, const struct connection *c)
{
    return server->limits.connections_per_address_max == 0 || is_proxys(c) ||
           count_has_room(server, c);
}

static bool is_full(const struct net_server *server)
{
    assert_lists(server);
    return server->connection_count - server->outgoing_count - server->evicted_count -
               server->refused_count >=
           server->limits.connections_max;
}

/* ---- admission ---- */

/* Returns a worker with the fewest connections. Starts the search at a different index each time,
 * so that equally loaded workers alternate. */
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
    const struct net_proxies *proxies = server->proxies;
    uint16_t port;

    c->magic = CONNECTION_MAGIC;
    c->server = server;
    c->protocol = server->protocol;
    c->fd = fd;
    if (address_from(address, c->address, &port)) /* otherwise it is a Unix socket */
        address_write(c->address, port, c->peer);
    else
        memcpy(c->peer, "local", sizeof "local");
    c->awaits_header = proxies && address_list_has(&proxies->introducing, c->address);
    c->speaks_for_others =
        server->key || (proxies && address_list_has(&proxies->trusted, c->address));
    c->accepted_ms = clock_coarse_ms();
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

    lock_acquire(&server->lock);
    may = may_grow(server);
    server->acceptor_waits = !may;
    lock_release(&server->lock);
    return may;
}

/* Wakes the acceptor if it waits for a slot. Otherwise it would sleep RETRY_MS for each slot, and
 * many idle connections could block new ones for minutes. */
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

    lock_acquire(&server->lock);
    crowded = !address_has_room(server, c);
    refused = crowded || (is_full(server) && !make_room(server));
    c->refused = refused;
    dropped = c->refused && server->refused_count >= overflow_connections(&server->limits);
    if (!dropped) {
        c->worker = least_loaded(server);
        add(server, c);
    }
    lock_release(&server->lock);
    if (refused)
        episode_refused(crowded ? EPISODE_ADDRESS : EPISODE_CONNECTIONS);
    if (!dropped)
        return c;
    free(c);
    return NULL;
}

bool connection_list_outgoing(struct connection *connection)
{
    struct net_server *server = connection->server;
    bool may;

    connection->magic = CONNECTION_MAGIC;
    lock_acquire(&server->lock);
    may = server->outgoing_count < server->limits.outgoing_max;
    if (may)
        add(server, connection);
    lock_release(&server->lock);
    return may;
}

/* ---- proxies ---- */

const struct net_proxies *connection_proxies(const struct connection *connection)
{
    return connection->server->proxies;
}

/* Caller holds server->lock. Returns false if no more connections can be refused. */
static bool refuse_late(struct connection *c)
{
    struct net_server *server = c->server;

    if (c->refused)
        return true;
    if (c->is_evicted || server->refused_count >= overflow_connections(&server->limits))
        return false;
    c->refused = true;
    server->refused_count++;
    return true;
}

/* The lock is needed because the acceptor and the sweep read the peer. */
bool connection_introduce(struct connection *connection, const struct proxy_header *header)
{
    struct net_server *server = connection->server;
    bool crowded = false, has_room = true;

    assert(connection->magic == CONNECTION_MAGIC && connection->awaits_header);
    lock_acquire(&server->lock);
    connection->awaits_header = false;
    if (header->has_client) {
        memcpy(connection->address, header->client, sizeof connection->address);
        address_write(header->client, header->port, connection->peer);
        connection->is_forwarded = true;
        connection->is_forwarded_tls = header->is_tls;
        connection->speaks_for_others =
            address_list_has(&server->proxies->trusted, connection->address);
    }
    crowded = !address_has_room(server, connection);
    if (crowded)
        has_room = refuse_late(connection);
    if (!is_proxys(connection))
        count_address(connection);
    connection->awaits_header = !has_room; /* so that begin() is not called */
    lock_release(&server->lock);
    if (crowded)
        episode_refused(EPISODE_ADDRESS);
    return has_room;
}

bool connection_serves(struct connection *connection, const uint8_t address[ADDRESS_SIZE])
{
    struct net_server *server = connection->server;
    bool has_room;

    assert(connection->speaks_for_others && !connection->is_counted);
    if (server->limits.connections_per_address_max == 0)
        return true;
    lock_acquire(&server->lock);
    memcpy(connection->address, address, sizeof connection->address);
    has_room = count_has_room(server, connection);
    if (has_room)
        count_address(connection);
    lock_release(&server->lock);
    if (!has_room)
        episode_refused(EPISODE_ADDRESS);
    return has_room;
}

void connection_served(struct connection *connection)
{
    struct net_server *server = connection->server;

    if (!connection->is_counted || !connection->speaks_for_others)
        return;
    lock_acquire(&server->lock);
    forget_address(connection);
    lock_release(&server->lock);
}

void connection_change_worker(struct connection *connection, struct worker *to)
{
    struct net_server *server = connection->server;
    struct worker *from = connection->worker;

    lock_acquire(&server->lock);
    assert(from->connections > 0);
    from->connections--;
    to->connections++;
    connection->worker = to;
    lock_release(&server->lock);
}

void connection_remove(struct connection *connection)
{
    struct net_server *server = connection->server;

    assert(connection->magic == CONNECTION_MAGIC);
    lock_acquire(&server->lock);
    forget(server, connection);
    let_grow(server);
    lock_release(&server->lock);
}

void connection_serves_for(struct connection *connection, const void *whose)
{
    assert(connection->magic == CONNECTION_MAGIC && !connection->is_ready);
    connection->lane = lanes_number(whose);
}

void connection_trust(struct connection *connection)
{
    struct net_server *server = connection->server;

    assert(connection->magic == CONNECTION_MAGIC);
    if (connection->trusted)
        return;
    lock_acquire(&server->lock);
    list_remove(&server->untrusted, connection);
    connection->trusted = true;
    list_append(&server->trusted, connection);
    assert_lists(server);
    lock_release(&server->lock);
}

/* ---- shutdown ---- */

bool connections_wait_none(struct net_server *server, int timeout_ms)
{
    uint64_t end = clock_coarse_ms() + (uint64_t)timeout_ms;
    bool none;

    lock_acquire(&server->lock);
    for (uint64_t now = clock_coarse_ms(); server->connection_count > 0 && now < end;
         now = clock_coarse_ms())
        lock_wait(&server->lock, &server->changed, (int)(end - now));
    none = server->connection_count == 0;
    lock_release(&server->lock);
    return none;
}

bool net_await_none(struct net_server *server, unsigned ms)
{
    return connections_wait_none(server, (int)ms);
}

unsigned connections_count(struct net_server *server)
{
    unsigned count;

    lock_acquire(&server->lock);
    assert_lists(server);
    count = server->connection_count;
    lock_release(&server->lock);
    return count;
}
