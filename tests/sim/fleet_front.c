/* The process of a front end: a counterpart of src/server/serve.c for a cluster with one service. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <signal.h>

#include "base/clock.h"
#include "server/cell.h"
#include "server/process.h"
#include "server/running_servers.h"
#include "store/failure.h"

#include "commits.h"
#include "faults.h"
#include "fleet.h"
#include "moves.h"
#include "net.h"
#include "scheduler.h"
#include "services.h"
#include "wire.h"

#define MS_NS           UINT64_C(1000000)
#define STOP_GRACE_S    30u
/* Of the loop of an owner, between two counts of its bytes. */
#define USAGE_TURNS     100u
/* Distinct from the numbers of lives in run.c. */
#define LIVES_OF_REIGNS 100u

static struct cell cell;
static struct http_server *servers[SERVICE_COUNT];
static struct server *server;
static unsigned self;

static struct machine *machine(void)
{
    return fleet_machine(self);
}

/* ---- exit ---- */

/* Cleans up like the kernel after an exit. */
static noreturn void leave(int status)
{
    world_say("%.6f front end %u exits with %d", (double)world->now_ns / 1e9, self, status);
    fleet_storage_end(machine()->session);
    net_end_process(self);
    machine()->serves = false;
    machine()->has_exited = true;
    moves_end_process(self);
    memset(machine()->executing, 0, sizeof machine()->executing);
    fleet_trouble("a front end exits");
    sched_leave_process(status);
}

/* In the place of src/server/process.c. */
_Noreturn void ending_of_lost_cell(unsigned number, const char *why)
{
    (void)number;
    world_say("%.6f front end %u has lost its cell: %s", (double)world->now_ns / 1e9, self, why);
    leave(EXIT_STORE_FAILED);
}

void fleet_give_up(void)
{
    leave(EXIT_STORE_FAILED);
}

static void end_if_failed(void)
{
    if (!server_healthy(server))
        leave(EXIT_STORE_FAILED);
}

/* In the place of src/server/running_servers.c. */
const char *running_reached_at(const char *host)
{
    return host;
}

/* In the place of src/server/signals.c. */
enum signal_kind signals_next(const struct signal_watch *watch, unsigned ms)
{
    (void)watch;
    sched_sleep(ms * MS_NS);
    return machine()->is_told_to_stop ? SIGNAL_END : SIGNAL_NONE;
}

/* ---- start ---- */

static enum service_index own_service(void)
{
    switch (world->plan.service) {
    case SIM_QUEUE:
        return SERVICE_QUEUE;
    case SIM_TABLE:
        return SERVICE_TABLE;
    case SIM_FILE:
        return SERVICE_FILE;
    case SIM_PATH:
        return SERVICE_DFS;
    default:
        return SERVICE_BLOB;
    }
}

static void fill_options(struct options *options, char host[16])
{
    uint32_t address = net_address(self);

    (void)snprintf(host, 16, "%u.%u.%u.%u", address >> 24, address >> 16 & 255, address >> 8 & 255,
                   address & 255);
    options->cluster = FLEET_FOLDER;
    options->silent = true;
    options->fence_command = world->fleet->has_fence ? "/fence" : NULL;
    options->listen[SERVICE_BLOB].host = host;
    options->listen[own_service()] =
        (struct listen_options){ .wanted = true, .host = host, .port = machine()->port };
    options->internal = (struct listen_options){ .host = host, .port = machine()->internal_port };
}

static void start_listener(const struct options *options, const struct http_limits *limits)
{
    enum service_index service = own_service();
    const struct net_listen where = { .host = options->listen[service].host,
                                      .port = machine()->port };
    const char *problem = "";

    servers[service] =
        http_start(&where, limits, &cell.application, &cell.front.doors[service], &problem);
    if (!servers[service])
        world_fail("a front end does not listen: %s", problem);
}

static struct http_limits draw_limits(void)
{
    struct http_limits limits = http_limits_default;

    limits.net.workers = 1 + world_draw(STREAM_SYSTEM, 2);
    limits.net.connections_max = 64;
    limits.net.outgoing_max = limits.net.connections_max;
    return limits;
}

/* ---- owning ---- */

uint64_t fleet_tenure_ends(void)
{
    return atomic_load(&cell.owner.tenure.ends_ns);
}

/* Has requests that were not executed yet, or in this cell by the previous owner, judged as if they started now. */
static void ask_again(void)
{
    for (unsigned slot = 0; slot < CLIENTS_MAX; slot++) {
        struct fleet_wish *wish = &world->fleet->wishes[slot];

        if (wish->is_waiting && (wish->executed == 0 || wish->cell == machine()->cell))
            sim_service()->asked(slot, &wish->ask);
    }
}

/* Lets clients read responses that the previous owner has sent. */
static void let_clients_read(void)
{
    for (unsigned i = 0; i < 1000 && net_has_unread(); i++)
        sched_sleep(MS_NS);
}

/* Clients use the clock of the owner, if there is one cell. */
static void set_clock(int64_t skew)
{
    if (skew == 0)
        return;
    if (!commits_are_divided()) {
        world->wall_ns += skew;
        world->wall_set_ns += skew;
    }
    world->wall_steps++;
    world->wall_set_at_ns = world->now_ns;
}

/* Returns false if the store has failed meanwhile. */
static bool take_stock(void)
{
    struct fleet *fleet = world->fleet;
    struct fleet_cell *of = &fleet->cells[machine()->cell];
    bool whole;

    let_clients_read();
    while (fleet->is_taking_stock) /* another cell's owner */
        sched_sleep(MS_NS);
    fleet->is_taking_stock = true;
    if (fleet_is_cut_off()) {
        fleet->is_taking_stock = false;
        return false;
    }
    set_clock(machine()->skew_ns - fleet_machine(of->reigns)->skew_ns);
    of->reigns = self;
    world->life =
        LIVES_OF_REIGNS + (unsigned)fleet->takeovers; /* durations of leases start again */
    if (!commits_are_divided())
        sim_service()->begin_life();
    whole = sim_service()->take_stock(server, true);
    commits_here()->has_started = whole;
    of->reign++;
    fleet->takeovers++;
    fleet_count(FLEET_TAKEOVERS);
    ask_again();
    fleet->is_taking_stock = false;
    return whole;
}

/* Checks that no other front end has a lease by its own clock. A pause just before may have outlasted the caller's own lease. */
static void check_others(void)
{
    if (clock_boot_ns() >= atomic_load(&cell.owner.tenure.ends_ns))
        return;
    for (unsigned i = 1; i <= world->plan.fronts; i++) {
        const struct machine *other = fleet_machine(i);

        if (i != self && other->pid != 0 && !other->has_exited && other->cell == machine()->cell &&
            fleet_boot_ns(i, (int64_t)world->now_ns) < (int64_t)other->tenure_ends_ns)
            world_fail("front end %u serves, and front end %u still has its lease", self, i);
    }
}

static void note_tenure(void)
{
    machine()->tenure_ends_ns = atomic_load(&cell.owner.tenure.ends_ns);
}

static noreturn void own(void)
{
    struct endpoint joined[SERVICE_COUNT] = { { .service = NULL } };
    const char *problem;

    machine()->cell = cell.owner.record.cell;
    commits_set_cell(machine()->cell);
    if (commits_here()->has_started)
        commits_here()->opened_at = 0;
    commits_here()->has_started = false;
    machine()->cell_session = machine()->session;
    server = server_open(&problem);
    if (!server) {
        world_say("%.6f front end %u cannot open the cell: %s", (double)world->now_ns / 1e9, self,
                  problem);
        if (!fleet_is_cut_off() && machine()->trouble == 0)
            world_fail("the cell does not open: %s", problem);
        leave(EXIT_FAILURE);
    }
    if (!take_stock())
        leave(EXIT_STORE_FAILED);
    store_use_tenure(server_store(server), &cell.owner.tenure);
    cell_join(&cell, joined);
    server_join(server, &joined[own_service()]);
    cell.front.doors[own_service()].tag = server_tag(server);
    cell_serve_peers(&cell, server_endpoints(server), server_pool(server));
    machine()->incarnation = cell.owner.record.incarnation;
    cell_serve(&cell);
    check_others();
    machine()->serves = true;
    world_say("%.6f front end %u serves, incarnation %llu", (double)world->now_ns / 1e9, self,
              (unsigned long long)machine()->incarnation);
    for (unsigned i = 0; !machine()->is_told_to_stop; i++) {
        note_tenure();
        sched_sleep(5 * MS_NS);
        if (commits_are_divided() && i % USAGE_TURNS == 0)
            cell_update_record(&cell, server_store(server));
        end_if_failed();
    }
    fleet_trouble("a handover");
    cell_stop(&cell, STOP_GRACE_S);
    cell_stop_moves();
    http_stop(servers[own_service()], STOP_GRACE_S);
    machine()->tenure_ends_ns = 0; /* no connection is left */
    end_if_failed();
    server_close(server);
    cell_release(&cell);
    fleet_count(FLEET_HANDOVERS);
    leave(EXIT_SUCCESS);
}

noreturn void fleet_front_run(unsigned number, unsigned thread)
{
    static const struct server_options names_options = { .product_style_url = true };
    static struct options options;
    static char host[16];
    const struct service *services[SERVICE_COUNT] = { NULL };
    struct http_limits limits;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGCHLD, SIG_DFL);
    self = number;
    net_enter_process(number);
    sched_enter_process(thread);
    faults_begin(true);
    fill_options(&options, host);
    setenv("LAGRA_SEAL_ALWAYS", "1", 1); /* extents are lent, however new they are */
    limits = draw_limits();
    for (size_t i = 0; i < SERVICE_COUNT; i++)
        services[i] = sim_service()->service;
    cell_use_names(&cell, services, &names_options);
    if (!cell_init(&cell, &options, wire_application(), services, servers))
        leave(EXIT_FAILURE);
    start_listener(&options, &limits);
    if (!cell_listen(&cell, &options, &limits))
        leave(EXIT_FAILURE);
    if (cell_acquire(&cell, &options, machine()->port, NULL) == CELL_OWNED)
        own();
    cell_stop(&cell, STOP_GRACE_S);
    http_stop(servers[own_service()], STOP_GRACE_S);
    cell_release(&cell);
    leave(EXIT_SUCCESS);
}

unsigned fleet_self(void)
{
    return self;
}
