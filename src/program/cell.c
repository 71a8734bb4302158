/* See cell.h. */
#include "program/cell.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cluster/candidate.h"
#include "cluster/fence.h"
#include "cluster/folder.h"
#include "cluster/key.h"
#include "program/process.h"
#include "program/running.h"
#include "service/access_log.h"

#define LOOK_MS        50u
#define ABANDON_MS     1000u
/* Lifetime of links to an owner that has handed over, on both sides. */
#define LEAVE_MS       2000u
/* A fence command that failed, or did not free the lock, is repeated after this time. */
#define FENCE_AGAIN_MS 5000u
#define NUDGE_AGAIN_MS 2000u
/* A file operation that takes longer is reported. */
#define HANGS_AFTER_MS 5000u
#define ADDRESS_MAX    300u

/* One cell, as the main thread sees it while it stands by. */
struct contender {
    struct candidate candidate;
    struct fence fence;
    uint64_t fence_from_ns, nudge_from_ns;
    bool is_silent, hangs; /* it was logged */
    char problem[256];     /* that was logged last */
};

/* On the heap: threads that hang refer to it. */
struct standby {
    const struct options *options;
    struct candidacy candidacy;
    char address[ADDRESS_MAX];
    unsigned count;
    struct contender contenders[CLUSTER_CELLS_MAX];
};

/* ---- log lines ---- */

static void log_silence(struct contender *c, const struct options *options,
                        const struct candidate_found *found)
{
    const struct owner_identity *owner = &found->watch.record.owner;

    if (c->is_silent)
        return;
    c->is_silent = true;
    log_line(LOG_WARN,
             "cell %u: its owner %s (%s, client \"%s\", pid %" PRIu64
             ") holds its lock but does not renew its lease. %s",
             c->candidate.cell, owner->name, owner->address, owner->client, owner->pid,
             options->fence_command ? "Fencing it"
                                    : "Without --fenceCommand this front end waits until the file "
                                      "system ends the owner's session by itself");
}

static void log_hang(struct contender *c, const struct candidate_found *found)
{
    bool hangs =
        found->began_ns > 0 && clock_boot_ns() > found->began_ns + HANGS_AFTER_MS * NS_PER_MS;

    if (hangs && !c->hangs)
        log_line(LOG_WARN,
                 "cell %u: its file `owner` could not be %s for %u s; "
                 "the machine of its owner may hang",
                 c->candidate.cell, found->is_open ? "read or locked" : "opened",
                 HANGS_AFTER_MS / 1000);
    c->hangs = hangs;
}

static void log_problem(struct contender *c, const struct candidate_found *found)
{
    if (found->problem[0] && strcmp(found->problem, c->problem) != 0)
        log_line(LOG_WARN, "cell %u: %s", c->candidate.cell, found->problem);
    memcpy(c->problem, found->problem, sizeof c->problem);
}

/* ---- fencing ---- */

/* Another owner that is silent is fenced; the lock is then free, and the candidate takes it. */
static void fence_if_silent(struct contender *c, const struct options *options,
                            const struct candidate_found *found)
{
    if (!lease_watch_is_silent(&found->watch)) {
        c->is_silent = false;
        return;
    }
    log_silence(c, options, found);
    if (clock_boot_ns() >= c->nudge_from_ns) {
        c->nudge_from_ns = clock_boot_ns() + NUDGE_AGAIN_MS * NS_PER_MS;
        candidate_nudge(&c->candidate);
    }
    if (!options->fence_command || atomic_load(&c->fence.runs) ||
        clock_boot_ns() < c->fence_from_ns)
        return;
    c->fence_from_ns = clock_boot_ns() + FENCE_AGAIN_MS * NS_PER_MS;
    (void)fence_start(&c->fence, options->fence_command, &found->watch.record, &found->self);
}

/* ---- standing by ---- */

static void name_address(const struct options *options, uint16_t port, char address[ADDRESS_MAX])
{
    const char *host = options->listen[SERVICE_BLOB].host;
    char name[OWNER_NAME_MAX + 1] = "";

    /* Every address: others reach it by the machine's name. */
    if (strcmp(host, running_reached_at(host)) != 0 && gethostname(name, sizeof name - 1) == 0)
        host = name;
    snprintf(address, ADDRESS_MAX, strchr(host, ':') ? "[%s]:%u" : "%s:%u", host, port);
}

static bool choose(struct standby *standby, unsigned cells[CLUSTER_CELLS_MAX])
{
    const struct options *options = standby->options;
    const char *problem = "";
    unsigned count;

    if (!cluster_folder_read(options->cluster, &standby->candidacy.cluster, &problem)) {
        fprintf(stderr, "lagra: cannot use the cluster %s: %s\n", options->cluster, problem);
        return false;
    }
    count = cluster_folder_cells(options->cluster, cells, &problem);
    standby->count = count;
    if (options->cell > 0) {
        standby->count = 0;
        for (unsigned i = 0; i < count; i++)
            standby->count += cells[i] == options->cell;
        cells[0] = options->cell;
        problem = "it has no such cell";
    }
    if (standby->count == 0)
        fprintf(stderr, "lagra: cannot use the cluster %s: %s\n", options->cluster, problem);
    return standby->count > 0;
}

static bool start(struct standby *standby)
{
    unsigned cells[CLUSTER_CELLS_MAX];

    if (!choose(standby, cells))
        return false;
    for (unsigned i = 0; i < standby->count; i++)
        if (!candidate_start(&standby->contenders[i].candidate, &standby->candidacy, cells[i]))
            return false;
    return true;
}

/* Ends the candidates. Where one hangs, its memory is left to it. */
static void end(struct standby *standby)
{
    uint64_t end_ms = clock_monotonic_ms() + ABANDON_MS;
    bool all_ended = true;

    atomic_store(&standby->candidacy.is_taken, true);
    for (unsigned i = 0; i < standby->count; i++) {
        struct contender *c = &standby->contenders[i];

        uint64_t now_ms = clock_monotonic_ms();
        unsigned left_ms = now_ms < end_ms ? (unsigned)(end_ms - now_ms) : 0;

        if (!candidate_wait(&c->candidate, left_ms) || atomic_load(&c->fence.runs))
            all_ended = false;
        else
            thread_join(&c->fence.thread);
    }
    if (all_ended)
        free(standby);
}

static void look_at(struct contender *c, const struct options *options,
                    struct candidate_found *ret_found)
{
    candidate_look(&c->candidate, ret_found);
    if (ret_found->state != CANDIDATE_WAITS)
        return;
    log_problem(c, ret_found);
    log_hang(c, ret_found);
    fence_if_silent(c, options, ret_found);
}

/* ---- owning ---- */

/* The cell may be written to by another now, so this process must terminate. */
static void on_lost(void *context, const char *why)
{
    const struct cell *cell = context;

    ending_of_lost_cell(cell->owner.record.cell, why);
}

/* Requests that wait until this front end serves check how long they have waited. */
static void on_renewed(void *context)
{
    struct cell *cell = context;

    route_wake(&cell->front.route);
}

static void take(struct cell *cell, const struct options *options, struct contender *c,
                 const struct candidate_found *found)
{
    thread_join(&c->candidate.thread);
    cell->location = cluster_data_path(options->cluster, c->candidate.cell);
    cell->serves_from_ns = found->serves_from_ns;
    (void)route_saw(&cell->front.route, NULL, found->watch.asked_ns);
    front_set_status(&cell->front, "takes the cell over");
    log_line(LOG_INFO, "cell %u: owned by this front end, incarnation %" PRIu64, c->candidate.cell,
             found->record.incarnation);
    if (!owner_start(&cell->owner, &c->candidate.file, &found->record, found->record_began_ns,
                     on_lost, on_renewed, cell))
        ending_of_lost_cell(c->candidate.cell, "no thread can be started to renew its lease");
}

/* ---- the wait ---- */

/* Requests that wait for an owner of an earlier incarnation, or for an owner without a lease, wait in vain, because it sends
 * nothing. decision: 952 */
static void cut_links(struct cell *cell, uint64_t incarnation, enum cut_which which)
{
    for (size_t i = 0; i < SERVICE_COUNT; i++)
        if (cell->servers[i])
            http_cut_outgoing(cell->servers[i], incarnation, which);
}

/* An owner that has handed over refuses the requests that are still on their way to it, and these get time for that.
 * decision: 1010 */
static void leave_links(struct cell *cell, uint64_t incarnation)
{
    cut_links(cell, incarnation, CUT_IDLE);
    cell->left = incarnation;
    cell->left_ns = clock_boot_ns() + LEAVE_MS * NS_PER_MS;
}

void cell_look(struct cell *cell)
{
    if (cell->left == 0 || clock_boot_ns() < cell->left_ns)
        return;
    cut_links(cell, cell->left, CUT_ALL);
    cell->left = 0;
}

/* With several cells it is not known which of them a request is about. */
static void forward_if_one(struct cell *cell, unsigned count)
{
    if (count == 1)
        return;
    route_close(&cell->front.route);
    front_set_status(&cell->front, "stands by for several cells, and forwards nothing");
}

/* Says who owns the cell, and has requests forwarded there. */
static void show_owner(struct cell *cell, const struct candidate_found *found)
{
    const struct owner_record *record = &found->watch.record;
    bool is_owned =
        found->watch.has_record && record->is_held && !lease_watch_is_silent(&found->watch);
    char status[480];

    if (is_owned)
        snprintf(status, sizeof status,
                 "stands by: cell %u is owned by %s, %s, incarnation %" PRIu64, record->cell,
                 record->owner.name, record->owner.address, record->incarnation);
    else
        snprintf(status, sizeof status, "stands by: the cell has no owner with a valid lease");
    front_set_status(&cell->front, status);
    if (route_saw(&cell->front.route, is_owned ? record : NULL, found->watch.asked_ns))
        leave_links(cell, record->incarnation);
    else if (!is_owned && cell->has_owner && !record->is_held)
        leave_links(cell, record->incarnation + 1);
    else if (!is_owned && cell->has_owner)
        cut_links(cell, record->incarnation + 1, CUT_ALL);
    cell->has_owner = is_owned;
}

/* Looks at each cell until one is ours, or a signal ends the wait. */
static enum cell_result wait_for_cell(struct cell *cell, struct standby *standby,
                                      const struct signal_watch *signals)
{
    struct candidate_found found;
    bool said = false;

    for (;;) {
        unsigned failed = 0;

        for (unsigned i = 0; i < standby->count; i++) {
            struct contender *c = &standby->contenders[i];

            look_at(c, standby->options, &found);
            if (standby->count == 1)
                show_owner(cell, &found);
            if (found.state == CANDIDATE_WON) {
                take(cell, standby->options, c, &found);
                return CELL_OWNED;
            }
            if (found.state == CANDIDATE_FAILED) {
                log_problem(c, &found);
                failed++;
            }
        }
        if (failed == standby->count || (failed > 0 && atomic_load(&standby->candidacy.is_taken)))
            return CELL_FAILED;
        if (!said && !standby->options->silent && found.is_open)
            printf("Lagra stands by for a cell of %s\n", standby->options->cluster);
        said = said || found.is_open;
        fflush(stdout);
        cell_look(cell);
        if (signals_next(signals, LOOK_MS) == SIGNAL_END)
            return CELL_STOPPED;
    }
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
        .to = logged->to,
        .ns = logged->ns,
        .received = logged->received,
        .sent = logged->sent,
    });
}

/* Returns false if it cannot be used. A cluster of an earlier version has none. */
static bool read_key(struct cell *cell, const struct options *options)
{
    char id[GUID_TEXT_SIZE];
    uint8_t secret[NET_KEY_BYTES];
    const char *problem = "";
    struct guid cluster;

    if (!cluster_folder_read(options->cluster, &cluster, &problem)) {
        fprintf(stderr, "lagra: cannot use the cluster %s: %s\n", options->cluster, problem);
        return false;
    }
    guid_format(&cluster, id);
    switch (cluster_key_read(options->cluster, secret, &problem)) {
    case CLUSTER_KEY_READ:
        cell->key = net_key_new(id, secret, &problem);
        break;
    case CLUSTER_KEY_MISSING:
        log_line(LOG_WARN,
                 "the cluster has no file `key`, so requests are not forwarded to owners of cells");
        return true;
    case CLUSTER_KEY_UNUSABLE:
        break;
    }
    explicit_bzero(secret, sizeof secret);
    if (!cell->key)
        fprintf(stderr, "lagra: cannot use the cluster %s: %s\n", options->cluster, problem);
    return cell->key;
}

bool cell_init(struct cell *cell, const struct options *options,
               const struct http_application *application,
               const struct service *const services[SERVICE_COUNT],
               struct http_server *const *servers)
{
    const char *names[SERVICE_COUNT];

    if (!read_key(cell, options))
        return false;
    for (size_t i = 0; i < SERVICE_COUNT; i++)
        names[i] = services[i]->name;
    cell->servers = servers;
    cell->application = front_application_for(application);
    cell->internal_application = front_internal_application_for(application);
    front_init(&cell->front, application, names, cell->key, log_forwarded);
    cell->front.doors[SERVICE_TABLE].forwarding.is_json = true;
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
    cell->internal = http_start(&where, &own, &cell->internal_application, &cell->front, &problem);
    if (!cell->internal) {
        fprintf(stderr, "lagra: the internal endpoint (--clusterPort): %s\n", problem);
        return false;
    }
    if (address_parse(bytes_from_string(options->internal.host), address))
        address_write(address, http_port(cell->internal), cell->forward);
    return true;
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
    route_close(&cell->front.route);
    if (!front_hand_over(&cell->front, grace_s * 1000))
        stop_internal(cell);
}

enum cell_result cell_acquire(struct cell *cell, const struct options *options, uint16_t blob_port,
                              const struct signal_watch *signals)
{
    struct standby *standby = xcalloc(1, sizeof *standby);
    enum cell_result result = CELL_FAILED;

    standby->options = options;
    standby->candidacy.path = options->cluster;
    standby->candidacy.address = standby->address;
    standby->candidacy.forward = cell->forward;
    name_address(options, blob_port, standby->address);
    if (start(standby)) {
        forward_if_one(cell, standby->count);
        result = wait_for_cell(cell, standby, signals);
    }
    end(standby);
    return result;
}

void cell_serve(struct cell *cell, void *const tags[SERVICE_COUNT])
{
    uint64_t now_ns = clock_boot_ns();

    if (now_ns < cell->serves_from_ns)
        thread_sleep_ns(cell->serves_from_ns - now_ns);
    for (size_t i = 0; i < SERVICE_COUNT; i++)
        cell->front.doors[i].tag = tags[i];
    owner_serves(&cell->owner);
    front_serve(&cell->front, &cell->owner.tenure, cell->owner.record.cell,
                cell->owner.record.incarnation);
    route_close(&cell->front.route); /* what waits for an owner is executed here */
    leave_links(cell, cell->owner.record.incarnation);
}

/* Front ends that read that the cell is free close their idle connections, and send nothing more. */
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
    if (cell->location)
        give_up(cell);
    stop_internal(cell);
}

void cell_free(struct cell *cell)
{
    net_key_free(cell->key);
    cell->key = NULL;
}
