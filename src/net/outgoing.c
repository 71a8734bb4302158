/* Connections that a protocol opens to other servers. Each is served by the worker that opened it,
 * so a request and the connection that forwards it are on one thread. They are in the same lists as
 * accepted connections, but counted separately. */
#include "net/net_private.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* The kernel closes the connection if the peer's machine has not acknowledged data for this long,
 * or has not replied to this many probes of an idle connection. */
#define UNACKNOWLEDGED_MS 10000
#define PROBE_AFTER_S     5
#define PROBE_EVERY_S     2
#define PROBES            3

static void set(int fd, int level, int name, int value)
{
    (void)setsockopt(fd, level, name, &value, sizeof value);
}

int outgoing_connect(const struct net_peer *peer)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(peer->port) };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(peer->port) };
    bool is_v4 = address_is_v4(peer->address);
    int fd = socket(is_v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int result;

    if (fd < 0)
        return -1;
    set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, UNACKNOWLEDGED_MS);
    set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(fd, IPPROTO_TCP, TCP_KEEPIDLE, PROBE_AFTER_S);
    set(fd, IPPROTO_TCP, TCP_KEEPINTVL, PROBE_EVERY_S);
    set(fd, IPPROTO_TCP, TCP_KEEPCNT, PROBES);
    memcpy(&v4.sin_addr, peer->address + ADDRESS_V4_BEGIN, sizeof v4.sin_addr);
    memcpy(&v6.sin6_addr, peer->address, sizeof v6.sin6_addr);
    result = is_v4 ? connect(fd, (const struct sockaddr *)&v4, sizeof v4)
                   : connect(fd, (const struct sockaddr *)&v6, sizeof v6);
    if (result == 0 || errno == EINPROGRESS)
        return fd;
    close(fd);
    return -1;
}

struct connection *connection_open(struct connection *of, const struct net_protocol *protocol,
                                   const struct net_peer *peer)
{
    struct worker *worker = of->worker;
    int fd = outgoing_connect(peer);
    struct connection *c;

    if (fd < 0)
        return NULL;
    c = xcalloc(1, protocol->connection_bytes);
    c->server = of->server;
    c->protocol = protocol;
    c->worker = worker;
    c->fd = fd;
    c->is_outgoing = c->is_connecting = c->trusted = true;
    c->tag = peer->tag;
    memcpy(c->address, peer->address, sizeof c->address);
    address_write(peer->address, peer->port, c->peer);
    c->accepted_ms = clock_coarse_ms();
    connection_awaits_peer(c);
    if (!connection_list_outgoing(c)) {
        close(fd);
        free(c);
        return NULL;
    }
    c->tls_of = tls_of_key(peer->key);
    return worker_adopt(worker, c) ? c : NULL;
}
