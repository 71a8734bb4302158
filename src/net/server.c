/* Starts and stops a server: its listening socket, workers and acceptor. */
#include "net/net_private.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "net/local.h"

/* Interval between log lines of net_stop() while it waits. */
#define STOP_WAIT_MS 5000

/* ---- start ---- */

unsigned net_workers(const struct net_limits *limits)
{
    long cores;

    if (limits->workers > 0)
        return limits->workers;
    cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (unsigned)cores : 1;
}

unsigned net_threads(const struct net_limits *limits)
{
    return net_workers(limits) + 1;
}

/* The server itself needs the listening socket, an eventfd for the acceptor, and an epoll set and
 * an eventfd for each worker. */
unsigned net_descriptors(const struct net_limits *limits)
{
    return limits->connections_max + limits->outgoing_max + 2 * overflow_connections(limits) + 2 +
           2 * net_workers(limits);
}

/* Returns NULL, or a message for the operator. */
static const char *start_workers(struct net_server *server)
{
    const char *problem = NULL;

    for (unsigned i = 0; i < server->worker_count && !problem; i++)
        problem = worker_start(&server->workers[i], server);
    return problem;
}

static void stop_workers(struct net_server *server)
{
    for (unsigned i = 0; i < server->worker_count; i++)
        worker_stop(&server->workers[i]);
}

static struct net_server *server_new(const struct net_limits *limits,
                                     const struct net_protocol *protocol, void *context)
{
    struct net_server *server = xcalloc(1, sizeof *server);

    server->protocol = protocol;
    server->context = context;
    server->limits = *limits;
    server->listener = -1;
    server->worker_count = net_workers(limits);
    server->workers =
        aligned_alloc(_Alignof(struct worker), server->worker_count * sizeof *server->workers);
    if (!server->workers)
        abort();
    memset(server->workers, 0, server->worker_count * sizeof *server->workers);
    lock_init(&server->lock, RANK_CONNECTIONS);
    lock_condition_init(&server->changed);
    return server;
}

static void server_free(struct net_server *server)
{
    tls_give(server->tls);
    free(server->workers);
    if (server->listener >= 0)
        close(server->listener);
    lock_destroy(&server->lock);
    pthread_cond_destroy(&server->changed);
    free(server);
}

struct net_server *net_start(const struct net_listen *listen, const struct net_limits *limits,
                             const struct net_protocol *protocol, void *context,
                             const char **ret_problem)
{
    struct net_server *server;
    struct tls *tls = NULL;

    assert(protocol->connection_bytes >= sizeof(struct connection));
    *ret_problem = "no key given";
    if (listen->cert_pem && listen->key_pem)
        tls = tls_new(listen->cert_pem, listen->key_pem, ret_problem);
    if (listen->cert_pem && !tls)
        return NULL;
    server = server_new(limits, protocol, context);
    server->tls = tls;
    server->is_tls = tls || listen->key;
    server->key = listen->key;
    server->proxies = listen->proxies;
    server->is_local = listen->local_path != NULL;
    server->listener = listen->local_path
                           ? local_listen(listen->local_path, ret_problem)
                           : listener_open(listen->host, listen->port, &server->port, ret_problem);
    if (server->listener >= 0) {
        *ret_problem = start_workers(server);
        if (!*ret_problem)
            *ret_problem = acceptor_start(server);
        if (!*ret_problem)
            return server;
    }
    stop_workers(server);
    server_free(server);
    return NULL;
}

bool net_renew_certificate(struct net_server *server, const char *cert_pem, const char *key_pem,
                           const char **ret_problem)
{
    struct tls *renewed = tls_new(cert_pem, key_pem, ret_problem);
    struct tls *before;

    if (!renewed)
        return false;
    lock_acquire(&server->lock);
    before = server->tls;
    server->tls = renewed;
    lock_release(&server->lock);
    tls_give(before);
    return true;
}

int net_worker_connections(struct net_server *server, unsigned worker)
{
    int count = -1;

    lock_acquire(&server->lock);
    if (worker < server->worker_count)
        count = (int)server->workers[worker].connections;
    lock_release(&server->lock);
    return count;
}

uint16_t net_port(const struct net_server *server)
{
    return server->port;
}

bool net_is_stopping(const struct net_server *server)
{
    return atomic_load_explicit(&server->stopping, memory_order_relaxed);
}

/* ---- stop ---- */

/* Waits for all connections to end. Their requests complete on their workers, so everything that
 * these wait for (the store) must still be running. */
void net_stop(struct net_server *server, unsigned grace_s)
{
    acceptor_accept_no_more(server);
    connections_cut(server, CUT_IDLE);
    if (!connections_wait_none(server, (int)grace_s * 1000)) {
        connections_cut(server, CUT_ALL);
        while (!connections_wait_none(server, STOP_WAIT_MS))
            log_line(LOG_WARN, "port %u: %u connections are still waiting for the store",
                     server->port, connections_count(server));
    }
    acceptor_stop(server);
    stop_workers(server);
    server_free(server);
}
