/* Runs a server from its start to its orderly stop: see serve.h. */
#include "server/serve.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analytics/analytics.h"
#include "base/episode.h"
#include "base/event_log.h"
#include "base/log.h"
#include "blob/blob.h"
#include "dfs/dfs.h"
#include "file/file.h"
#include "opens/open_epoch.h"
#include "net/net.h"
#include "server/admin_socket.h"
#include "server/cell.h"
#include "server/certificate.h"
#include "server/credentials.h"
#include "server/process.h"
#include "server/banner.h"
#include "server/management_port.h"
#include "server/open_store.h"
#include "server/options.h"
#include "queue/queue.h"
#include "request/request.h"
#include "service/waiting.h"
#include "server/request_logs.h"
#include "server/sandbox.h"
#include "server/listeners.h"
#include "server/signals.h"
#include "server/smb_endpoint.h"
#include "store/embedded/sizes.h"
#include "table/table.h"

/* Time for requests in progress to finish after SIGTERM, and before the store is reopened. */
#define STOP_GRACE_S           30
#define REOPEN_GRACE_S         5
/* After this additional time, the process no longer waits for a cell's hanging file system. */
#define AWAY_GRACE_S           10
/* Descriptors that must be available before the store is reopened. */
#define REOPEN_DESCRIPTORS     64
/* Reserved in addition to those of the store: standard files, the log. */
#define OTHER_DESCRIPTORS      32u
/* Threads running at once during the start, besides those of the servers: of the store, RocksDB,
 * and pools. */
#define OTHER_THREADS          24u
/* Address space besides stacks of threads; a start on an empty directory was measured to need half
 * of it. */
#define START_MEMORY_BYTES     ((size_t)128 << 20)
/* Concurrent reads of cold records from disk. */
#define DECIDE_THREADS_MAX     16
/* Copy sources read concurrently, for one account and from one host. decision: 284 */
#define GATHER_THREADS_MAX     24
#define GATHER_SHARES          ((struct pool_shares){ .account = 16, .source = 8 })
/* Concurrent copies that continue after their requests were answered. */
#define BACKGROUND_THREADS_MAX 12
#define BACKGROUND_SHARES      ((struct pool_shares){ .account = 8, .source = 4 })

const struct service *const services[SERVICE_COUNT] = { &blob_service, &queue_service,
                                                        &table_service, &file_service,
                                                        &dfs_service };

struct running {
    struct options options;
    struct server_options server_options;
    struct http_limits limits;
    unsigned descriptors; /* limit of this process */
    struct credentials credentials;
    struct store *store;
    struct store *secondary; /* or NULL if it shows current data */
    struct decision_pool *pool;
    struct decision_pool *gather_pool;
    struct fetcher *fetcher;
    struct background *background;
    struct certificate certificate; /* chain is NULL for HTTP */
    struct certificate_renewal renewal;
    struct endpoint endpoints[SERVICE_COUNT];
    struct endpoint_set endpoint_set;
    struct http_server *servers[SERVICE_COUNT];
    struct usage_survey *usage;
    struct analytics *analytics;
    struct management_port management;
    struct smb_endpoint smb;
    struct admin_socket admin;
    struct cell cell; /* with --cluster */
    const struct signal_watch *signals;
    bool is_stopped; /* by a signal, while standing by */
};

static const struct tenure *tenure_of(const struct running *run)
{
    return run->options.cluster ? &run->cell.owner.tenure : NULL;
}

static bool start_threads(struct running *run)
{
    open_epoch_record(run->store, run->options.smb.wanted);
    cell_use_store(&run->cell, run->store);
    run->secondary = open_secondary(&run->options, run->store);
    run->pool = decision_pool_new(DECIDE_THREADS_MAX, (struct pool_shares){ .account = 0 });
    run->gather_pool = decision_pool_new(GATHER_THREADS_MAX, GATHER_SHARES);
    run->background = background_new(BACKGROUND_THREADS_MAX, BACKGROUND_SHARES);
    run->fetcher = fetcher_new(&run->options.fetcher);
    run->endpoint_set.endpoints = run->endpoints;
    run->endpoint_set.count = SERVICE_COUNT;
    for (size_t i = 0; i < SERVICE_COUNT; i++)
        run->endpoints[i] = (struct endpoint){
            .service = services[i],
            .all = &run->endpoint_set,
            .store = run->store,
            .secondary = run->secondary,
            .accounts = run->credentials.accounts,
            .trust = run->credentials.trust,
            .options = &run->server_options,
            .pool = run->pool,
            .gather_pool = run->gather_pool,
            .fetcher = run->fetcher,
            .background = run->background,
        };
    if (run->options.cluster)
        cell_join(&run->cell, run->endpoints);
    if (run->pool && run->gather_pool && run->background && run->fetcher && waiters_start())
        run->endpoint_set.tasks =
            task_runner_start(run->store, services, run->endpoints, SERVICE_COUNT);
    if (!run->endpoint_set.tasks)
        fprintf(stderr, "lagra: cannot start a thread: %s\n", strerror(errno));
    return run->endpoint_set.tasks;
}

/* Starts the listener of a service. With --cluster this precedes the store, and requests are
 * forwarded (cell.h). */
static bool start_listener(struct running *run, size_t i)
{
    const struct service_listener of = {
        .name = services[i]->name,
        .application = run->options.cluster ? &run->cell.application : &service_application,
        .tag = run->options.cluster ? (void *)&run->cell.front.doors[i] : &run->endpoints[i],
    };

    run->servers[i] =
        service_listener_start(&run->options, i, &run->limits, &run->certificate, &of);
    if (!run->servers[i])
        return run->options.listen[i].is_optional;
    atomic_store(&run->endpoint_set.ports[i], http_port(run->servers[i]));
    return true;
}

static bool start_services(struct running *run)
{
    for (size_t i = 0; i < SERVICE_COUNT; i++)
        if (run->options.listen[i].wanted && !run->servers[i] && !start_listener(run, i))
            return false;
    memcpy(run->renewal.servers, run->servers, sizeof run->servers);
    return true;
}

/* Starts the admin socket, which serves `lagra status` and the commands that change something. */
static bool start_admin(struct running *run)
{
    bool is_secure = run->certificate.chain != NULL;
    const struct admin_listener others[] = {
        { "smb", run->options.smb.host, run->smb.server ? net_port(run->smb.server) : 0, false },
        { "management", run->options.management.host,
          run->management.server ? http_port(run->management.server) : 0, is_secure },
    };

    run->admin.admin.endpoints = &run->endpoint_set;
    run->admin.admin.store = run->store;
    run->admin.admin.console = run->management.management.console;
    run->admin.admin.started_s = (uint64_t)time(NULL);
    for (size_t i = 0; i < SERVICE_COUNT; i++)
        if (run->servers[i])
            admin_socket_add_listener(
                &run->admin,
                &(struct admin_listener){ services[i]->name, run->options.listen[i].host,
                                          http_port(run->servers[i]), is_secure });
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        admin_socket_add_listener(&run->admin, &others[i]);
    return admin_socket_start(&run->options, &run->admin);
}

static bool start_management(struct running *run, bool in_cluster)
{
    struct management of = {
        .store = run->store,
        .usage = run->usage,
        .endpoints = &run->endpoint_set,
        .servers = run->servers,
        .services = in_cluster ? &front_relay_application : &service_application,
        .admin = &run->admin.admin,
        .tasks = run->options.testing ? run->endpoint_set.tasks : NULL,
        .health = in_cluster ? &run->cell.application : NULL,
    };

    for (size_t i = 0; i < SERVICE_COUNT; i++)
        of.service_tags[i] = in_cluster ? (void *)&run->cell.front.doors[i] : &run->endpoints[i];
    return management_start(&run->options, &run->certificate, &of, &run->management);
}

/* Starts all listeners, then reports them: a script that waits for one finds the others, too. */
static bool start_listeners(struct running *run)
{
    run->admin.admin.accounts = run->credentials.accounts;
    cell_show(&run->cell, &run->admin.admin);
    if (!start_services(run) || !start_management(run, run->options.cluster) ||
        !smb_endpoint_start(&run->smb, &run->options, &run->limits.net, run->credentials.accounts,
                            run->store, run->pool, tenure_of(run)) ||
        !start_admin(run))
        return false;
    run->renewal.servers[SERVICE_COUNT] = run->management.server;
    for (size_t i = 0; i < SERVICE_COUNT; i++) {
        if (!run->servers[i])
            continue;
        service_listener_announce(&run->options, i, http_port(run->servers[i]),
                                  run->certificate.chain != NULL, services[i]->name);
        banner_print(&run->options, BANNER_STARTING, i, run->options.listen[i].port);
        banner_print(&run->options, BANNER_LISTENING, i, http_port(run->servers[i]));
    }
    management_print(&run->options, &run->management, run->certificate.chain != NULL);
    return true;
}

/* ---- run and stop ---- */

static unsigned servers_count(const struct running *run)
{
    return (unsigned)SERVICE_COUNT + (run->options.smb.wanted ? 1 : 0) +
           (run->options.cluster ? 1 : 0);
}

static bool check_start(const struct running *run)
{
    struct net_limits limits = { .workers = run->options.workers };

    if (!start_check(OTHER_THREADS + ADMIN_THREADS + servers_count(run) * net_threads(&limits),
                     START_MEMORY_BYTES))
        return false;
    if (!allocator_start())
        fprintf(stderr, "lagra: cannot start the allocator's background thread; freed memory will "
                        "not be returned to the system\n");
    return true;
}

static unsigned descriptors_set_aside(const struct running *run)
{
    unsigned of_store = run->options.cluster ? EMBEDDED_DESCRIPTORS_MAX + DIRECT_FILES_MAX
                                             : store_descriptors(run->store);

    return of_store + OTHER_DESCRIPTORS + ADMIN_DESCRIPTORS + management_descriptors(&run->options);
}

/* Divides the descriptors: the store's come first and connections share the rest, so that clients
 * can never keep the store from opening a file. */
static bool fit_limits(struct running *run)
{
    unsigned descriptors = run->descriptors;
    unsigned set_aside = descriptors_set_aside(run);
    unsigned wanted;

    run->limits = http_limits_default;
    run->limits.net.workers = run->options.workers;
    run->limits.net.connections_per_address_max = run->options.connections_per_address_max;
    run->limits.net.outgoing_max = run->options.cluster ? 1 : 0; /* at most one per connection */
    if (run->options.connections_max > 0)
        run->limits.net.connections_max = run->options.connections_max;
    wanted = run->limits.net.connections_max;
    if (descriptors <= set_aside ||
        !http_limits_fit(&run->limits, servers_count(run), descriptors - set_aside)) {
        fprintf(stderr, "lagra: %u open files are allowed (ulimit -n); at least %u are needed\n",
                descriptors, set_aside + http_limits_least(&run->limits, servers_count(run)));
        return false;
    }
    if (!run->options.silent && run->limits.net.connections_max < wanted)
        printf("Lagra accepts up to %u connections for each service, because %u open files are "
               "allowed (ulimit -n)\n",
               run->limits.net.connections_max, descriptors);
    return true;
}

/* Returns true if descriptors are available again, to the process and on the machine. */
static bool has_descriptors(struct running *run)
{
    run->descriptors = descriptors_allow();
    return run->descriptors > descriptors_set_aside(run) &&
           descriptors_are_free(REOPEN_DESCRIPTORS);
}

/* Stops the server, even after a partial start: finishes requests in progress and syncs. */
static void stop(struct running *run, unsigned grace_s)
{
    management_stop(&run->management); /* it uses the servers and the admin's pool */
    admin_socket_stop(&run->admin);
    management_release(&run->management);
    waiters_stop();
    if (run->fetcher)
        fetcher_stop(run->fetcher);
    if (run->background)
        background_stop(run->background);
    cell_stop(&run->cell, grace_s);
    for (size_t i = 0; i < SERVICE_COUNT; i++)
        if (run->servers[i])
            http_stop(run->servers[i], grace_s);
    usage_survey_stop(run->usage);
    smb_endpoint_stop(&run->smb, grace_s);
    if (run->pool)
        decision_pool_free(run->pool);
    if (run->gather_pool)
        decision_pool_free(run->gather_pool);
    cell_stop_moves();
    if (run->endpoint_set.tasks)
        task_runner_stop(run->endpoint_set.tasks);
    if (run->background)
        background_free(run->background);
    if (run->fetcher)
        fetcher_free(run->fetcher);
    if (run->store && !store_healthy(run->store))
        ending_of_failed_store();
    request_logs_stop();
    cell_send_last(&run->cell);
    if (run->analytics)
        analytics_stop(run->analytics);
    if (run->secondary)
        store_close(run->secondary);
    if (run->store)
        store_close(run->store);
    cell_release(&run->cell);
    cell_free(&run->cell);
    credentials_close(&run->credentials);
    certificate_free(&run->certificate);
}

/* ---- a cell of a cluster ---- */

/* Listens and stands by until a cell is owned, whose data directory becomes the server's. */
static bool take_cell(struct running *run)
{
    struct http_server *const *blob = &run->servers[SERVICE_BLOB];
    enum cell_result result;

    if (!run->options.cluster)
        return true;
    cell_use_names(&run->cell, services, &run->server_options);
    if (!cell_init(&run->cell, &run->options, &service_application, services, run->servers) ||
        !fit_limits(run) || !start_services(run) ||
        !cell_listen(&run->cell, &run->options, &run->limits) ||
        !management_stand_by(&run->options, &run->certificate, &run->cell.application,
                             &run->cell.front.doors[SERVICE_BLOB], &run->management) ||
        !smb_endpoint_stand_by(&run->smb, &run->options, &run->limits.net, &run->credentials,
                               &run->cell))
        return false;
    supervisor_notify("READY=1\nSTATUS=standing by for a cell");
    result = cell_acquire(&run->cell, &run->options,
                          *blob ? http_port(*blob) : run->options.listen[SERVICE_BLOB].port,
                          run->signals);
    if (result == CELL_OWNED) {
        management_end_stand_by(&run->management);
        smb_endpoint_end_stand_by(&run->smb, &run->options);
    }
    run->is_stopped = result == CELL_STOPPED;
    run->options.location = run->cell.location;
    return result == CELL_OWNED;
}

static bool serve_cell(struct running *run)
{
    cell_serve_peers(&run->cell, &run->endpoint_set, run->pool);
    cell_serve(&run->cell);
    supervisor_notify("STATUS=serves a cell");
    return cell_follow(&run->cell, run->store, run->credentials.accounts);
}

/* ---- start ---- */

static bool start(struct running *run, const struct options *options,
                  const struct signal_watch *signals)
{
    *run = (struct running){ .options = *options, .signals = signals };
    run->server_options = (struct server_options){
        .product_style_url = options->product_style_url,
        .skip_version_check = options->skip_version_check,
        .no_public_access = options->no_public_access,
        .loose = options->loose,
        .rehydrate_seconds = options->rehydrate_seconds,
    };
#ifdef LAGRA_GATES
    run->server_options.always_wait = getenv("LAGRA_ALWAYS_WAIT") != NULL;
    if (getenv("LAGRA_SOURCE_PATIENCE_MS"))
        run->options.fetcher.timeout_ms =
            (unsigned)strtoul(getenv("LAGRA_SOURCE_PATIENCE_MS"), NULL, 10);
#endif
    run->descriptors = descriptors_allow();
    certificate_renewal_init(&run->renewal, &run->options);
    return credentials_open(options, options_are_loopback(options), &run->credentials) &&
           certificate_read(options, &run->certificate) && check_start(run) &&
           request_logs_start(&run->options) && take_cell(run) &&
           (run->store = open_store(&run->options)) &&
           credentials_open_stored(options, options_are_loopback(options), run->store,
                                   cell_follows_root(&run->cell), &run->credentials) &&
           start_threads(run) &&
           (run->analytics = request_logs_start_analytics(options, &run->endpoint_set, run->store,
                                                          run->credentials.accounts)) &&
           (run->endpoint_set.usage = run->usage =
                usage_start(options, &run->endpoint_set, run->store, run->credentials.accounts)) &&
           (options->cluster || fit_limits(run)) &&
           seed_run(&options->seed, &run->endpoint_set, run->credentials.accounts) &&
           start_listeners(run) && (!options->cluster || serve_cell(run));
}

static void reload(void *of)
{
    struct running *run = of;

    supervisor_notify("RELOADING=1");
    certificate_renewal_poll(&run->renewal);
    if (!log_reopen())
        log_errno("open %s again", run->options.debug_path);
    event_logs_reopen();
    credentials_reload(&run->options, &run->credentials);
    supervisor_notify("READY=1");
}

static void look(void *of)
{
    struct running *run = of;

    episodes_look();
    admin_socket_poll(&run->admin);
    if (run->management.management.console)
        console_look(run->management.management.console);
    certificate_renewal_poll(&run->renewal);
    cell_update_record(&run->cell, run->store);
}

enum ending { ENDING_STOP, ENDING_REOPEN };

/* Waits until a signal ends the server or its store can be reopened. decision: 208 */
static enum ending wait_for_ending(struct running *run, const struct signal_watch *signals)
{
    for (;;) {
        enum signal_kind kind = signals_next(signals, SIGNAL_POLL_INTERVAL_MS);

        if (kind == SIGNAL_END)
            return ENDING_STOP;
        if (kind == SIGNAL_NONE && store_wants_reopening(run->store) && has_descriptors(run))
            return ENDING_REOPEN;
    }
}

/* Keeps the ports for the restart, including dynamically assigned ones. */
static void keep_ports(const struct running *run, struct options *options)
{
    for (size_t i = 0; i < SERVICE_COUNT; i++)
        if (run->servers[i])
            options->listen[i].port = http_port(run->servers[i]);
    if (run->cell.internal)
        options->internal.port = http_port(run->cell.internal);
    if (run->smb.server)
        options->smb.port = net_port(run->smb.server);
    if (run->management.server)
        options->management.port = http_port(run->management.server);
}

int serve(struct options *options)
{
    static struct running run;
    char sandbox[SANDBOX_WORDS_SIZE];
    struct signal_watch signals = { .reload = reload, .look = look, .of = &run };
    bool started;

    signals_block(&signals);
    started = sandbox_enter(options, sandbox) && start(&run, options, &signals);
    if (started && sandbox[0] && !options->silent && !options->is_azurite)
        printf("Lagra's sandbox: %s\n", sandbox);
    fflush(stdout);
    if (started)
        supervisor_notify("READY=1");
    while (started && wait_for_ending(&run, &signals) == ENDING_REOPEN) {
        log_line(LOG_WARN, "descriptors are available again; reopening the data directory");
        keep_ports(&run, options);
        stop(&run, REOPEN_GRACE_S);
        started = start(&run, options, &signals);
    }
    supervisor_notify("STOPPING=1");
    atomic_store(&run.endpoint_set.is_stopping, true);
    if (started && options->stop_delay_ms > 0)
        signals_await_end(&signals, options->stop_delay_ms);
    if (started)
        banner_print_all(options, BANNER_CLOSING);
    if (options->cluster)
        ending_within(STOP_GRACE_S + AWAY_GRACE_S);
    stop(&run, STOP_GRACE_S);
    if (started)
        banner_print_all(options, BANNER_CLOSED);
    return started || run.is_stopped ? EXIT_SUCCESS : EXIT_FAILURE;
}
