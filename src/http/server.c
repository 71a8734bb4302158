/* Starting and stopping a server: a listening socket, workers (a daemon of MHD each), an
 * acceptor. */
#include "http/http_private.h"

#include <assert.h>
#include <gnutls/gnutls.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"

#define OPTIONS_MAX  20
/* How often http_stop() says what it waits for. */
#define STOP_WAIT_MS 5000

const struct http_limits http_limits_default = {
    .workers = 0,
    .connections_max = 10000,
    .connection_memory_bytes = (size_t)32 * 1024, /* more, and malloc() would map each */
    .idle_s = 120,
    .body_stall_s = 60,
    .body_rate_min = 1024,
    .body_rate_grace_s = 30,
    .answer_stall_s = 60,
    .answer_rate_min = 1024,
    .answer_rate_s = 30,
    /* The largest body that the SDKs send in one piece by default: reading it to its end lets them
     * see the refusal, where a cut connection would make them try again. */
    .discard_max_bytes = (uint64_t)256 * 1024 * 1024,
    .answer_files_max = 256,
};

/* ---- MHD's callbacks that are not an exchange's ---- */

static void connection_notify(void *state, struct MHD_Connection *mhd, void **connection,
                              enum MHD_ConnectionNotificationCode what)
{
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        *connection = connection_begin(state, mhd);
    else
        connection_remove(*connection);
}

/* exchange_begin() keeps the target as it was sent; MHD need not decode what nobody reads. */
static size_t unescape_nothing(void *state, struct MHD_Connection *mhd, char *text)
{
    (void)state;
    (void)mhd;
    return strlen(text);
}

/* What MHD has to say is about clients and their mistakes. */
static void __attribute__((format(printf, 2, 0)))
log_mhd(void *state, const char *format, va_list args)
{
    char text[512];

    (void)state;
    if (!log_enabled(LOG_DEBUG))
        return;
    vsnprintf(text, sizeof text, format, args);
    text[strcspn(text, "\n")] = '\0';
    log_line(LOG_DEBUG, "libmicrohttpd: %s", text);
}

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

/* Listening socket and wake-up; an epoll set, one for TLS, and a wake-up for each worker. */
static unsigned own_descriptors(const struct http_limits *limits)
{
    return 2 + 3 * worker_count(limits);
}

/* Those of connections, of ones beyond the limit, of answers. */
static unsigned descriptors_of_clients(const struct http_limits *limits)
{
    return limits->connections_max + 2 * connections_beyond(limits) + 2 * limits->answer_files_max;
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

/* Looks at certificate and key before MHD does, which would only say "no".
 * Returns NULL when they are usable. */
static const char *tls_problem(const char *cert_pem, const char *key_pem)
{
    gnutls_datum_t cert = { (unsigned char *)(uintptr_t)cert_pem, (unsigned)strlen(cert_pem) };
    gnutls_datum_t key = { (unsigned char *)(uintptr_t)key_pem, (unsigned)strlen(key_pem) };
    gnutls_certificate_credentials_t credentials;
    int result = gnutls_certificate_allocate_credentials(&credentials);

    if (result < 0)
        return gnutls_strerror(result);
    result = gnutls_certificate_set_x509_key_mem(credentials, &cert, &key, GNUTLS_X509_FMT_PEM);
    gnutls_certificate_free_credentials(credentials);
    return result < 0 ? gnutls_strerror(result) : NULL;
}

unsigned server_timeout_s(const struct http_limits *limits)
{
    return limits->idle_s > limits->body_stall_s ? limits->idle_s : limits->body_stall_s;
}

static struct MHD_Daemon *start_daemon(struct http_server *server, const struct http_listen *listen)
{
    const struct http_limits *limits = &server->limits;
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_NO_LISTEN_SOCKET |
                     MHD_ALLOW_SUSPEND_RESUME | MHD_USE_TURBO;
    struct MHD_OptionItem options[OPTIONS_MAX];
    size_t count = 0;

    flags |= log_enabled(LOG_DEBUG) ? MHD_USE_ERROR_LOG : 0u;
    options[count++] = (struct MHD_OptionItem){ MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                                                (intptr_t)limits->connection_memory_bytes, NULL };
    /* Ours, in connections.c, comes first. */
    options[count++] = (struct MHD_OptionItem){ MHD_OPTION_CONNECTION_LIMIT, INT_MAX, NULL };
    /* Against clients that do not read their answer, and that stop in a TLS handshake. */
    options[count++] = (struct MHD_OptionItem){ MHD_OPTION_CONNECTION_TIMEOUT,
                                                (intptr_t)server_timeout_s(limits), NULL };
    if (server->secure) {
        flags |= MHD_USE_TLS;
        options[count++] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_MEM_CERT, 0,
                                                    (void *)(uintptr_t)listen->cert_pem };
        options[count++] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_MEM_KEY, 0,
                                                    (void *)(uintptr_t)listen->key_pem };
        options[count++] = (struct MHD_OptionItem){
            MHD_OPTION_HTTPS_PRIORITIES, 0,
            (void *)(uintptr_t) "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"
        };
    }
    assert(count < OPTIONS_MAX);
    options[count] = (struct MHD_OptionItem){ MHD_OPTION_END, 0, NULL };
    return MHD_start_daemon(flags, 0, NULL, NULL, exchange_step, server, MHD_OPTION_EXTERNAL_LOGGER,
                            log_mhd, NULL, MHD_OPTION_URI_LOG_CALLBACK, exchange_begin, server,
                            MHD_OPTION_UNESCAPE_CALLBACK, unescape_nothing, NULL,
                            MHD_OPTION_NOTIFY_COMPLETED, exchange_over, server,
                            MHD_OPTION_NOTIFY_CONNECTION, connection_notify, server,
                            MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

static bool start_workers(struct http_server *server, const struct http_listen *listen)
{
    for (unsigned i = 0; i < server->worker_count; i++) {
        server->workers[i].daemon = start_daemon(server, listen);
        if (!server->workers[i].daemon)
            return false;
    }
    return true;
}

static void stop_workers(struct http_server *server)
{
    for (unsigned i = 0; i < server->worker_count; i++) {
        if (server->workers[i].daemon)
            MHD_stop_daemon(server->workers[i].daemon);
    }
}

static struct http_server *server_new(const struct http_listen *listen,
                                      const struct http_limits *limits,
                                      const struct http_application *application)
{
    struct http_server *server = xcalloc(1, sizeof *server);

    server->application = application;
    server->limits = *limits;
    server->tag = listen->tag;
    server->secure = listen->cert_pem;
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
    for (unsigned i = 0; i < server->worker_count; i++) {
        while (server->workers[i].spare_count > 0)
            arena_free(server->workers[i].spares[--server->workers[i].spare_count]);
    }
    free(server->workers);
    free(server->by_fd);
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
    const char *why;

    if (listen->cert_pem) {
        why = listen->key_pem ? tls_problem(listen->cert_pem, listen->key_pem) : "no key given";
        if (why) {
            *ret_problem = why;
            return NULL;
        }
    }
    server = server_new(listen, limits, application);
    server->listener = listener_open(listen->host, listen->port, &server->port, ret_problem);
    if (server->listener < 0)
        goto out;
    if (!start_workers(server, listen)) {
        *ret_problem = "libmicrohttpd does not start (descriptors, threads or memory)";
        goto out;
    }
    why = acceptor_start(server);
    if (!why)
        return server;
    *ret_problem = why;
out:
    stop_workers(server);
    server_free(server);
    return NULL;
}

uint16_t http_port(const struct http_server *server)
{
    return server->port;
}

/* ---- stop ---- */

/* MHD may not be stopped while a connection is suspended, so this waits for every exchange: what
 * they wait for (the store) must still be running. */
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
    while (atomic_load(&server->resumers) > 0)
        sched_yield(); /* the last instructions of who resumed the last exchange */
    acceptor_stop(server);
    stop_workers(server);
    server_free(server);
}
