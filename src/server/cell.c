/* Cell of a front end: see cell.h. */
#include "server/cell.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "admin/cell_reclaim.h"
#include "admin/cell_usage.h"
#include "admin/move_in.h"
#include "admin/move_out.h"
#include "analytics/analytics.h"
#include "base/log.h"
#include "cluster/folder.h"
#include "cluster/key.h"
#include "server/process.h"
#include "server/running_servers.h"
#include "observe/access_log.h"
#include "request/cell_parts.h"
#include "request/cell_request.h"
#include "request/peer_requests.h"
#include "store/failure.h"
#include "service/placement_release.h"
#include "request/request.h"
#include "source/cell_source.h"

/* Lifetime of links to this owner once it has handed over. */
#define LEAVE_MS    2000u
/* Longest delay of a handover by cell_send_last(). */
#define LAST_MS     1000u
#define ADDRESS_MAX STANDBY_ADDRESS_MAX

/* ---- owning ---- */

static void name_address(const struct options *options, uint16_t port, char address[ADDRESS_MAX])
{
    const char *host = options->listen[SERVICE_BLOB].host;
    char name[OWNER_NAME_MAX + 1] = "";

    /* It listens on all addresses; others reach it by the machine's name. */
    if (strcmp(host, running_reached_at(host)) != 0 && gethostname(name, sizeof name - 1) == 0)
        host = name;
    snprintf(address, ADDRESS_MAX, strchr(host, ':') ? "[%s]:%u" : "%s:%u", host, port);
}

/* Names the host to which other front ends refer SMB clients; "" if they cannot. */
static void name_smb_host(const struct options *options, char name[OWNER_SMB_MAX + 1])
{
    const char *host = options->smb_referral_host;

    name[0] = '\0';
    if (!options->smb.wanted)
        return;
    if (!host && strcmp(options->smb.host, running_reached_at(options->smb.host)) != 0)
        host = gethostname(name, OWNER_SMB_MAX) == 0 ? name : "";
    else if (!host)
        host = options->smb.host;
    if (!owner_smb_is_valid(host)) {
        log_line(LOG_WARN,
                 "other front ends cannot refer SMB clients to \"%s\", which is no host name or "
                 "IPv4 address; set --smbReferralHost",
                 host);
        host = "";
    }
    if (host != name)
        snprintf(name, OWNER_SMB_MAX + 1, "%s", host);
}

/* The cell may be written to by another now, so this process must terminate. */
static void on_lost(void *context, const char *why)
{
    const struct cell *cell = context;

    ending_of_lost_cell(cell->owner.record.cell, why);
}

/* Lets requests that wait until this front end serves check their deadlines. */
static void on_renewed(void *context)
{
    struct cell *cell = context;

    route_wake(&cell->front.route);
}

/* The previous owner may have placed containers in a cell that was added so recently that this
 * process has not seen it. Lists must include it from the start. */
static void learn_cells(struct cell *cell, const struct options *options)
{
    unsigned cells[CLUSTER_CELLS_MAX];
    const char *problem = "";
    unsigned count = cluster_folder_cells(options->cluster, cells, &problem);

    for (unsigned i = 0; i < count; i++)
        route_add(&cell->front.route, cells[i]);
    if (count == 0)
        ending_of_lost_cell(cell->owner.record.cell, problem);
}

static void take(struct cell *cell, const struct options *options, struct standby_won *won)
{
    cell->location = cluster_data_path(options->cluster, won->record.cell);
    cell->serves_from_ns = won->serves_from_ns;
    log_line(LOG_INFO, "cell %u: owned by this front end, incarnation %" PRIu64, won->record.cell,
             won->record.incarnation);
    if (!owner_start(&cell->owner, &won->file, &won->record, won->record_began_ns, on_lost,
                     on_renewed, cell))
        ending_of_lost_cell(won->record.cell, "no thread can be started to renew its lease");
    learn_cells(cell, options);
}

/* ---- the internal endpoint ---- */

static void log_forwarded(const struct forward_logged *logged)
{
    static const char *const results[FORWARD_RESULTS] = { "responded", "busy", "lost",
                                                          "abandoned" };

    access_log_forwarded(&(struct forwarded_request){
        .service = logged->service,
        .result = results[logged->result],
        .request = logged->request,
        .status = logged->status,
        .cell = logged->cell,
        .to = logged->to,
        .ns = logged->ns,
        .waited_ns = logged->waited_ns,
        .received = logged->received,
        .sent = logged->sent,
        .is_direct = logged->is_direct,
    });
}

/* Returns false if it cannot be used. A cluster of an earlier version has none. */
static bool read_key(struct cell *cell, const struct options *options)
{
    char id[GUID_TEXT_SIZE];
    struct net_secrets secrets;
    const char *problem = "";
    struct guid cluster;

    if (!cluster_folder_read(options->cluster, &cluster, &problem)) {
        fprintf(stderr, "lagra: cannot use the cluster %s: %s\n", options->cluster, problem);
        return false;
    }
    guid_format(&cluster, id);
    switch (cluster_key_read(options->cluster, &secrets, &problem)) {
    case CLUSTER_KEY_READ:
        cell->key = net_key_new(id, &secrets, &problem);
        break;
    case CLUSTER_KEY_MISSING:
        log_line(LOG_WARN,
                 "the cluster has no file `key`, so requests are not forwarded to owners of cells");
        return true;
    case CLUSTER_KEY_UNUSABLE:
        break;
    }
    explicit_bzero(&secrets, sizeof secrets);
    if (!cell->key)
        fprintf(stderr, "lagra: cannot use the cluster %s: %s\n", options->cluster, problem);
    return cell->key;
}

static bool find_names(void *tag, struct exchange *exchange, struct bytes *ret_account,
                       struct bytes *ret_container)
{
    return request_names(tag, &exchange->request, exchange->arena, ret_account, ret_container);
}

/* Lets bodies be read from the files of other cells. */
static bool start_direct(struct cell *cell, const struct options *options)
{
    if (!cell->key)
        return true;
    cell->direct = direct_start(options->cluster);
    if (!cell->direct)
        fprintf(stderr, "lagra: cannot start threads that read files of other cells\n");
    for (size_t i = 0; i < SERVICE_COUNT; i++)
        cell->front.doors[i].forwarding.direct = cell->direct;
    return cell->direct;
}

bool cell_init(struct cell *cell, const struct options *options,
               const struct http_application *application,
               const struct service *const services[SERVICE_COUNT],
               struct http_server *const *servers)
{
    const char *names[SERVICE_COUNT];
    void *tags[SERVICE_COUNT];

    if (!read_key(cell, options))
        return false;
    for (size_t i = 0; i < SERVICE_COUNT; i++)
        names[i] = services[i]->name;
    cell->servers = servers;
    cell->application = front_application_for(application);
    cell->internal_application = front_internal_application_for(application);
    front_init(&cell->front, application, names, cell->key, log_forwarded);
    cell->front.doors[SERVICE_TABLE].forwarding.is_json = true;
    if (!start_direct(cell, options))
        return false;
    for (size_t i = 0; i < SERVICE_COUNT; i++)
        tags[i] = &cell->names[i];
    front_use_names(&cell->front, find_names, tags);
    peers_init(&cell->peers, &cell->front.route, cell->key);
    return true;
}

bool cell_listen(struct cell *cell, const struct options *options, const struct http_limits *limits)
{
    struct http_limits own = *limits;
    struct net_listen where = { .host = options->internal.host,
                                .port = options->internal.port,
                                .key = cell->key };
    uint8_t address[ADDRESS_SIZE];
    const char *problem = "";

    if (!cell->key)
        return true;
    own.connection_memory_bytes += INTRODUCTION_MAX;
    own.net.outgoing_max = 0;
#ifdef LAGRA_GATES
    if (getenv("LAGRA_BODY_STALL_S"))
        own.net.body_stall_s = (unsigned)strtoul(getenv("LAGRA_BODY_STALL_S"), NULL, 10);
#endif
    cell->internal = http_start(&where, &own, &cell->internal_application, &cell->front, &problem);
    if (!cell->internal) {
        fprintf(stderr, "lagra: the internal endpoint (--clusterPort): %s\n", problem);
        return false;
    }
    if (address_parse(bytes_from_string(options->internal.host), address))
        address_write(address, http_port(cell->internal), cell->forward);
    return true;
}

/* Returns the links to other owners, or NULL if the cluster has no key. */
static struct peers *peers_of(struct cell *cell)
{
    return cell->key ? &cell->peers : NULL;
}

static bool is_root(const struct cell *cell)
{
    return cell->owner.record.cell == CLUSTER_ROOT;
}

bool cell_follows_root(const struct cell *cell)
{
    return cell->location && !is_root(cell);
}

bool cell_follow(struct cell *cell, struct store *store, struct accounts *accounts)
{
    cell_accounts_stop(&cell->followed);
    cell->followed = (struct cell_accounts){ .peers = peers_of(cell),
                                             .cell = cell->owner.record.cell,
                                             .store = store,
                                             .accounts = accounts };
    if (!cell->followed.peers || is_root(cell) || cell_accounts_start(&cell->followed))
        return true;
    fprintf(stderr, "lagra: cannot start a thread that reads accounts\n");
    return false;
}

static void stop_internal(struct cell *cell)
{
    if (cell->internal)
        http_stop(cell->internal, 0);
    cell->internal = NULL;
}

void cell_stop(struct cell *cell, unsigned grace_s)
{
    if (!cell->servers)
        return;
    cell_accounts_stop(&cell->followed);
    route_close(&cell->front.route);
    if (!front_hand_over(&cell->front, grace_s * 1000))
        stop_internal(cell);
    if (cell->standby)
        standby_forget_servers(cell->standby);
}

void cell_send_last(struct cell *cell)
{
    if (!cell->location)
        return;
    peers_end(&cell->peers, LAST_MS);
    route_reopen(&cell->front.route);
}

enum cell_result cell_acquire(struct cell *cell, const struct options *options, uint16_t blob_port,
                              const struct signal_watch *signals)
{
    char address[ADDRESS_MAX], smb[OWNER_SMB_MAX + 1];
    struct standby_won won;

    name_address(options, blob_port, address);
    name_smb_host(options, smb);
    cell->standby =
        standby_start(options, &cell->front, cell->servers, address, cell->forward, smb);
    if (!cell->standby)
        return CELL_FAILED;
    switch (standby_wait(cell->standby, signals, &won)) {
    case STANDBY_WON:
        take(cell, options, &won);
        return CELL_OWNED;
    case STANDBY_STOPPED:
        return CELL_STOPPED;
    case STANDBY_FAILED:
        break;
    }
    return CELL_FAILED;
}

/* ---- placement ---- */

void cell_use_names(struct cell *cell, const struct service *const services[SERVICE_COUNT],
                    const struct server_options *options)
{
    for (size_t i = 0; i < SERVICE_COUNT; i++)
        cell->names[i] = (struct endpoint){ .service = services[i], .options = options };
}

void cell_update_record(struct cell *cell, struct store *store)
{
    char moved[OWNER_MOVE_MAX + 1];
    uint32_t keys[NET_KEYS_MAX] = { 0 };
    struct store_figures now;
    uint64_t used;

    if (!cell->location || !store || !store_figures(store, &now))
        return;
    used = now.piece_bytes + now.record_bytes + now.memory_table_bytes;
    atomic_store(&cell->owner.used_bytes, used);
    route_set_used(&cell->front.route, cell->owner.record.cell, used);
    move_out_describe(moved, sizeof moved);
    owner_set_move(&cell->owner, moved);
    if (cell->key)
        net_key_ids(cell->key, keys);
    owner_set_keys(&cell->owner, keys);
}

/* ---- requests of other front ends ---- */

/* Returns the cells that the root merges its lists with; NULL in other cells or without a key. */
static const struct other_cells *others_of(struct cell *cell)
{
    cell->others = (struct other_cells){ .peers = &cell->peers, .own = cell->owner.record.cell };
#ifdef LAGRA_GATES
    cell->others.asks_all = getenv("LAGRA_LISTS_ASK_ALL") != NULL;
#endif
    return cell->key && cell->others.own == CLUSTER_ROOT ? &cell->others : NULL;
}

void cell_serve_peers(struct cell *cell, struct endpoint_set *endpoints, struct decision_pool *pool)
{
    static const struct peer_handler handlers[] = {
        { OTHER_CELLS_PATH, OTHER_CELLS_REQUEST_MAX, .run = cell_list_serve },
        { CELL_PARTS_PATH, CELL_PARTS_REQUEST_MAX, .run = cell_parts_serve },
        { CELL_REQUEST_PATH, CELL_REQUEST_MAX, .run = cell_request_serve },
        { CELL_ACCOUNTS_PATH, CELL_ACCOUNTS_BODY_MAX, .run = cell_accounts_serve },
        { CELL_BYTES_PATH, CELL_BYTES_BODY_MAX, .run = cell_bytes_serve },
        { CELL_USAGE_PATH, CELL_USAGE_BODY_MAX, .run = cell_usage_serve },
        { CELL_RECLAIM_PATH, CELL_RECLAIM_BODY_MAX, .run = cell_reclaim_serve },
        { CAPACITY_PATH, CAPACITY_BODY_MAX, .run = capacity_serve },
        { PLACEMENT_RELEASE_PATH, PLACEMENT_BODY_MAX, .run = placement_release_serve },
        { PLACEMENT_CLAIM_PATH, PLACEMENT_BODY_MAX, .run = placement_claim_serve },
        { PLACEMENT_CHECK_PATH, PLACEMENT_BODY_MAX, .run = placement_check_serve },
        { MOVE_LOCATE_PATH, MOVE_BODY_MAX, .run = move_locate_serve },
        { MOVE_START_PATH, MOVE_BODY_MAX, .run = move_start_serve },
        { MOVE_STATUS_PATH, MOVE_BODY_MAX, .run = move_status_serve },
        { MOVE_NAMES_PATH, MOVE_BODY_MAX, .run = move_names_serve },
        { MOVE_BEGIN_PATH, MOVE_BODY_MAX, .run = move_begin_serve },
        { MOVE_PUT_PATH, MOVE_PUT_MAX, .run = move_put_serve },
        { MOVE_END_PATH, MOVE_BODY_MAX, .run = move_end_serve },
        { MOVE_PREPARE_PATH, MOVE_PREPARE_MAX, .run = move_prepare_serve },
        { MOVE_ACTIVATE_PATH, MOVE_BODY_MAX, .run = move_activate_serve },
        { MOVE_SWITCH_PATH, MOVE_BODY_MAX, .run = move_switch_serve },
        { MOVE_CANCEL_PATH, MOVE_BODY_MAX, .run = move_cancel_serve },
        { CELL_SOURCE_PATH, CELL_SOURCE_REQUEST_MAX, .run_stream = cell_source_serve },
    };

    cell->requests = (struct peer_requests){
        .handlers = handlers,
        .count = sizeof handlers / sizeof *handlers,
        .context = endpoints,
        .pool = pool,
    };
    front_serve_peers(&cell->front, &peer_requests_application, &cell->requests);
}

void cell_stop_moves(void)
{
    move_out_stop();
    move_in_stop();
}

void cell_join(struct cell *cell, struct endpoint endpoints[SERVICE_COUNT])
{
    for (size_t i = 0; i < SERVICE_COUNT; i++) {
        cell->front.doors[i].tag = &endpoints[i];
        endpoints[i].peers = peers_of(cell);
        endpoints[i].places = cell->key && is_root(cell) ? &cell->front.route : NULL;
        endpoints[i].cells = others_of(cell);
    }
}

void cell_use_store(struct cell *cell, struct store *store)
{
    store_use_tenure(store, cell->location ? &cell->owner.tenure : NULL);
}

void cell_show(struct cell *cell, struct admin *admin)
{
    admin->route = cell->location ? &cell->front.route : NULL;
    admin->cell = cell->owner.record.cell;
    admin->follows_root = cell_follows_root(cell);
    admin->tenure = cell->location ? &cell->owner.tenure : NULL;
}

void cell_serve(struct cell *cell)
{
    const struct owner_record *record = &cell->owner.record;
    uint64_t now_ns = clock_boot_ns();

    if (now_ns < cell->serves_from_ns)
        thread_sleep_ns(cell->serves_from_ns - now_ns);
    owner_serves(&cell->owner);
    front_serve(&cell->front, &cell->owner.tenure, record->cell, record->incarnation);
    route_take(&cell->front.route, record); /* requests that wait for an owner are executed here */
    standby_serves(cell->standby, record->incarnation);
}

/* Front ends that read that the cell is free close their idle connections and send nothing more. */
static void give_up(struct cell *cell)
{
    owner_release(&cell->owner);
    free(cell->location);
    cell->location = NULL;
    if (cell->internal)
        (void)http_await_none(cell->internal, LEAVE_MS);
}

void cell_release(struct cell *cell)
{
    if (cell->standby)
        standby_stop(cell->standby);
    if (cell->location)
        give_up(cell);
    stop_internal(cell);
}

void cell_free(struct cell *cell)
{
    if (cell->servers) {
        peers_release(&cell->peers);
        front_release(&cell->front);
    }
    direct_stop(cell->direct);
    cell->direct = NULL;
    if (cell->standby)
        standby_free(cell->standby);
    cell->standby = NULL;
    net_key_free(cell->key);
    cell->key = NULL;
}
