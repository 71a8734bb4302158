/* Starts and stops a server, and computes its limits. net/ serves the connections through
 * http_protocol. */
#include "http/http_private.h"

#include <assert.h>
#include <stdlib.h>

const struct http_limits http_limits_default = {
    .net = {
        .workers = 0,
        .connections_max = 10000,
        .idle_s = 120,
        .body_stall_s = 60,
        .body_rate_min = 1024,
        .body_rate_grace_s = 30,
        .answer_stall_s = 60,
        .answer_rate_min = 1024,
        .answer_rate_s = 30,
        /* Most clients read a response while they are sending. Those that do not (Python's) send at
         * most 64 MiB in one call, and retry if the connection is reset. */
        .linger_max_bytes = (uint64_t)64 * 1024 * 1024,
        .linger_s = 30,
        .linger_stall_s = 5,
    },
    .connection_memory_bytes = (size_t)32 * 1024,
    /* A small refused body is read to its end, so that its connection can be reused. */
    .discard_max_bytes = (uint64_t)64 * 1024,
    .answer_files_max = 256,
};

/* One for each client connection that can have a request in progress, plus the idle ones */
static unsigned outgoing_for(const struct net_limits *net)
{
    return net->connections_max + net->workers * HTTP_OUTGOING_IDLE_MAX;
}

bool http_limits_fit(struct http_limits *limits, unsigned servers, unsigned descriptors)
{
    struct net_limits net = limits->net;
    unsigned share = descriptors / servers;

    assert(servers > 0);
    /* computed once, because it makes a system call */
    net.workers = net_workers(&net);
    for (;;) {
        if (limits->answer_files_max > net.connections_max / 8)
            limits->answer_files_max = net.connections_max / 8;
        if (limits->net.outgoing_max > 0)
            limits->net.outgoing_max = net.outgoing_max = outgoing_for(&net);
        limits->net.connections_max = net.connections_max;
        if (net_descriptors(&net) + limits->answer_files_max <= share)
            return true;
        if (net.connections_max <= CONNECTIONS_LEAST)
            return false;
        net.connections_max--;
    }
}

unsigned http_limits_least(const struct http_limits *limits, unsigned servers)
{
    struct net_limits net = limits->net;
    unsigned files = limits->answer_files_max;

    net.workers = net_workers(&net);
    if (net.connections_max > CONNECTIONS_LEAST)
        net.connections_max = CONNECTIONS_LEAST;
    if (net.outgoing_max > 0)
        net.outgoing_max = outgoing_for(&net);
    if (files > net.connections_max / 8)
        files = net.connections_max / 8;
    return servers * (net_descriptors(&net) + files);
}

struct http_server *http_start(const struct net_listen *listen, const struct http_limits *limits,
                               const struct http_application *application, void *tag,
                               const char **ret_problem)
{
    struct http_server *server = xcalloc(1, sizeof *server);

    /* Header sections, and pipelined data after them, are received into a worker's buffer. */
    assert(limits->connection_memory_bytes < CONNECTION_INPUT_BYTES);
    server->application = application;
    server->limits = *limits;
    server->tag = tag;
    server->net = net_start(listen, &limits->net, &http_protocol, server, ret_problem);
    if (server->net)
        return server;
    free(server);
    return NULL;
}

bool http_renew_certificate(struct http_server *server, const char *cert_pem, const char *key_pem,
                            const char **ret_problem)
{
    return net_renew_certificate(server->net, cert_pem, key_pem, ret_problem);
}

int http_worker_connections(struct http_server *server, unsigned worker)
{
    return net_worker_connections(server->net, worker);
}

uint16_t http_port(const struct http_server *server)
{
    return net_port(server->net);
}

void http_cut_outgoing(struct http_server *server, uint64_t first, uint64_t end,
                       enum cut_which which)
{
    net_cut_outgoing(server->net, first, end, which);
}

bool http_await_none(struct http_server *server, unsigned ms)
{
    return net_await_none(server->net, ms);
}

void http_stop(struct http_server *server, unsigned grace_s)
{
    net_stop(server->net, grace_s);
    free(server);
}
