/* Starting and stopping a server: a listening socket, workers, an acceptor. */
#include "http/http_private.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"

/* How often http_stop() says what it waits for. */
#define STOP_WAIT_MS 5000

const struct http_limits http_limits_default = {
    .workers = 0,
    .connections_max = 10000,
    .connection_memory_bytes = (size_t)32 * 1024,
    .idle_s = 120,
    .body_stall_s = 60,
    .body_rate_min = 1024,
    .body_rate_grace_s = 30,
    .answer_stall_s = 60,
    .answer_rate_min = 1024,
    .answer_rate_s = 30,
    /* A small body is read to its end, and its connection goes on. */
    .discard_max_bytes = (uint64_t)64 * 1024,
    /* Most clients look for an answer while they send. Those that do not (Python's) send at most
     * 64 MiB at once, and would take a reset for a reason to try again. */
    .linger_max_bytes = (uint64_t)64 * 1024 * 1024,
    .linger_s = 30,
    .linger_stall_s = 5,
    .answer_files_max = 256,
};

/* ---- start ---- */

static unsigned worker_count(const struct http_limits *limits)
{
    long cores;

    if (limits->workers > 0)
        return limits->workers;
    cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (unsigned)cores : 1;
}

unsigned http_threads(const struct http_limits *limits)
{
    return worker_count(limits) + 1;
}

/* Listening socket and wake-up; an epoll set and a wake-up for each worker. */
static unsigned own_descriptors(const struct http_limits *limits)
{
    return 2 + 2 * worker_count(limits);
}

/* Those of connections, of ones beyond the limit, of answers. */
static unsigned descriptors_of_clients(const struct http_limits *limits)
{
    return limits->connections_max + 2 * overflow_connections(limits) + limits->answer_files_max;
}

bool http_limits_fit(struct http_limits *limits, unsigned servers, unsigned descriptors)
{
    unsigned share = descriptors / servers;
    unsigned own = own_descriptors(limits); /* once: it asks the kernel for the cores */

    assert(servers > 0);
    for (;;) {
        if (limits->answer_files_max > limits->connections_max / 8)
            limits->answer_files_max = limits->connections_max / 8;
        if (descriptors_of_clients(limits) + own <= share)
            return true;
        if (limits->connections_max <= CONNECTIONS_LEAST)
            return false;
        limits->connections_max--;
    }
}

/* returns NULL, or words for the operator */
static const char *start_workers(struct http_server *server)
{
    const char *problem = NULL;

    for (unsigned i = 0; i < server->worker_count && !problem; i++)
        problem = worker_start(&server->workers[i], server);
    return problem;
}

static void stop_workers(struct http_server *server)
{
    for (unsigned i = 0; i < server->worker_count; i++)
        worker_stop(&server->workers[i]);
}

static struct http_server *server_new(const struct http_listen *listen,
                                      const struct http_limits *limits,
                                      const struct http_application *application)
{
    struct http_server *server = xcalloc(1, sizeof *server);

    server->application = application;
    server->limits = *limits;
    server->tag = listen->tag;
    server->listener = -1;
    server->worker_count = worker_count(limits);
    server->workers =
        aligned_alloc(_Alignof(struct worker), server->worker_count * sizeof *server->workers);
    if (!server->workers)
        abort();
    memset(server->workers, 0, server->worker_count * sizeof *server->workers);
    lock_init(&server->lock, RANK_CONNECTIONS);
    lock_condition_init(&server->changed);
    return server;
}

static void server_free(struct http_server *server)
{
    tls_free(server->tls);
    free(server->workers);
    if (server->listener >= 0)
        close(server->listener);
    lock_release(&server->lock);
    pthread_cond_destroy(&server->changed);
    free(server);
}

struct http_server *http_start(const struct http_listen *listen, const struct http_limits *limits,
                               const struct http_application *application, const char **ret_problem)
{
    struct http_server *server;
    struct tls *tls = NULL;

    /* A head, and what may come behind it, is received into a worker's buffer. */
    assert(limits->connection_memory_bytes < WORKER_INPUT_BYTES);
    *ret_problem = "no key given";
    if (listen->cert_pem && listen->key_pem)
        tls = tls_new(listen->cert_pem, listen->key_pem, ret_problem);
    if (listen->cert_pem && !tls)
        return NULL;
    server = server_new(listen, limits, application);
    server->tls = tls;
    server->listener = listener_open(listen->host, listen->port, &server->port, ret_problem);
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

uint16_t http_port(const struct http_server *server)
{
    return server->port;
}

/* ---- stop ---- */

/* This waits for every exchange, because each is resumed on its worker: what they wait for (the
 * store) must still be running. */
void http_stop(struct http_server *server, unsigned grace_s)
{
    acceptor_accept_no_more(server);
    connections_cut(server, CUT_IDLE);
    if (!connections_wait_none(server, (int)grace_s * 1000)) {
        connections_cut(server, CUT_ALL);
        while (!connections_wait_none(server, STOP_WAIT_MS))
            log_line(LOG_WARN, "port %u: %u connections still wait for the store", server->port,
                     connections_count(server));
    }
    acceptor_stop(server);
    stop_workers(server);
    server_free(server);
}
