/* Standing by for a cell: see standby.h. */
#include "server/standby.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "cluster/key.h"
#include "cluster/pins.h"
#include "server/standby_private.h"

#define LOOK_MS        50u
#define STATUS_MAX     480u
#define ABANDON_MS     1000u
#define STEP_MS        20u
/* A fence command that failed, or did not free the lock, is repeated after this time. */
#define FENCE_AGAIN_MS 5000u
#define NUDGE_AGAIN_MS 2000u
/* Lifetime of links to an owner that has handed over. */
#define LEAVE_MS       2000u

/* ---- fencing ---- */

/* Fences a silent owner. The lock is then free, and the candidate acquires it. */
static void fence_if_silent(struct contender *c, const struct options *options,
                            const struct candidate_found *found)
{
    if (!lease_watch_is_silent(&found->watch)) {
        c->is_silent = false;
        return;
    }
    standby_log_silence(c, options, found);
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

/* ---- cells ---- */

/* Starts to watch a cell. Called by the main thread until the listing thread runs, then by that
 * one. */
static bool add(struct standby *standby, unsigned cell)
{
    unsigned count = atomic_load(&standby->count), wanted = standby->options->cell;

    if (!candidate_start(&standby->contenders[count].candidate, &standby->candidacy, cell,
                         wanted == 0 || wanted == cell))
        return false;
    route_add(&standby->front->route, cell);
    atomic_store(&standby->count, count + 1);
    return true;
}

static bool is_known(const struct standby *standby, unsigned cell)
{
    unsigned count = atomic_load(&standby->count);

    for (unsigned i = 0; i < count; i++)
        if (standby->contenders[i].candidate.cell == cell)
            return true;
    return false;
}

static void pause_lists(const struct standby *standby)
{
    for (unsigned ms = 0; ms < CLUSTER_REREAD_MS && !atomic_load(&standby->candidacy.ends);
         ms += STEP_MS)
        thread_sleep_ns(STEP_MS * NS_PER_MS);
}

static void refresh_pins(struct standby *standby)
{
    struct pins *pins;
    const char *problem = "";

    if (!file_has_changed(standby->pins_path, &standby->pins_seen))
        return;
    pins = xmalloc(sizeof *pins);
    if (pins_read(standby->options->cluster, pins, &problem)) {
        route_set_pins(&standby->front->route, pins);
        return;
    }
    log_line(LOG_WARN, "the cluster: %s", problem);
    standby->pins_seen = (struct file_mark){ .size = 0 };
    free(pins);
}

static void refresh_files(struct standby *standby)
{
    struct net_key *key = standby->front->doors[0].forwarding.key;

    refresh_pins(standby);
    if (key)
        cluster_key_refresh(standby->options->cluster, &standby->key_seen, key);
}

/* Thread that finds added cells, changed pins and a changed key. */
static void *list(void *argument)
{
    struct standby *standby = argument;
    unsigned cells[CLUSTER_CELLS_MAX], count;
    const char *problem;

    for (refresh_files(standby); !atomic_load(&standby->candidacy.ends); refresh_files(standby)) {
        count = cluster_folder_cells(standby->options->cluster, cells, &problem);
        for (unsigned i = 0; i < count && atomic_load(&standby->count) < CLUSTER_CELLS_MAX; i++)
            if (!is_known(standby, cells[i]) && add(standby, cells[i]))
                log_line(LOG_INFO, "cell %u: found in the folder of the cluster", cells[i]);
        pause_lists(standby);
    }
    atomic_store(&standby->lists, false);
    return NULL;
}

static bool refuse(const struct standby *standby, const char *problem)
{
    fprintf(stderr, "lagra: cannot use the cluster %s: %s\n", standby->options->cluster, problem);
    return false;
}

static bool start(struct standby *standby)
{
    const struct options *options = standby->options;
    unsigned cells[CLUSTER_CELLS_MAX], count;
    const char *problem = "";
    bool has_wanted = options->cell == 0;

    if (!cluster_folder_read(options->cluster, &standby->candidacy.cluster, &problem))
        return refuse(standby, problem);
    count = cluster_folder_cells(options->cluster, cells, &problem);
    if (count == 0)
        return refuse(standby, problem);
    for (unsigned i = 0; i < count; i++)
        has_wanted = has_wanted || cells[i] == options->cell;
    if (!has_wanted)
        return refuse(standby, "it has no such cell");
    for (unsigned i = 0; i < count; i++)
        if (!add(standby, cells[i]))
            return refuse(standby, "no thread can be started");
    atomic_store(&standby->lists, true);
    if (thread_start(&standby->lister, list, standby))
        return true;
    atomic_store(&standby->lists, false);
    return refuse(standby, "no thread can be started");
}

struct standby *standby_start(const struct options *options, struct front *front,
                              struct http_server *const *servers, const char *address,
                              const char *forward, const char *smb)
{
    struct standby *standby = xcalloc(1, sizeof *standby);

    standby->options = options;
    standby->pins_path = file_path(options->cluster, PINS_NAME);
    standby->front = front;
    standby->servers = servers;
    standby->candidacy.path = options->cluster;
    standby->candidacy.address = standby->address;
    standby->candidacy.forward = standby->forward;
    standby->candidacy.smb = standby->smb;
    snprintf(standby->address, sizeof standby->address, "%s", address);
    snprintf(standby->forward, sizeof standby->forward, "%s", forward);
    snprintf(standby->smb, sizeof standby->smb, "%s", smb);
    if (start(standby))
        return standby;
    standby_stop(standby);
    standby_free(standby);
    return NULL;
}

/* ---- owners ---- */

/* Closes links to owners of earlier incarnations, or without a lease: they send no responses, so
 * requests would wait in vain. decision: 952 */
static void cut_links(const struct standby *standby, uint32_t cell, uint64_t incarnation,
                      enum cut_which which)
{
    for (size_t i = 0; standby->servers && i < SERVICE_COUNT; i++)
        if (standby->servers[i])
            http_cut_outgoing(standby->servers[i], route_tag(cell, 0), route_tag(cell, incarnation),
                              which);
}

/* Closes links to an owner that has handed over, after a delay in which it refuses requests that
 * are still on their way. decision: 1010 */
static void leave_links(const struct standby *standby, struct contender *c, uint64_t incarnation)
{
    cut_links(standby, c->candidate.cell, incarnation, CUT_IDLE);
    atomic_store(&c->left_ns, clock_boot_ns() + LEAVE_MS * NS_PER_MS);
    atomic_store(&c->left, incarnation);
}

static void end_left_links(const struct standby *standby, struct contender *c)
{
    uint64_t left = atomic_load(&c->left);

    if (left == 0 || clock_boot_ns() < atomic_load(&c->left_ns))
        return;
    cut_links(standby, c->candidate.cell, left, CUT_ALL);
    (void)atomic_compare_exchange_strong(&c->left, &left, 0);
}

/* Returns true if a silent owner is fenced: this process stands by for its cell, or did so when the
 * owner renewed its lease for the last time. Then this process has taken another cell over since. A
 * front end that is started later could not even open the files of a dead machine that was not
 * evicted. decision: 1174 */
static bool may_fence(const struct standby *standby, const struct contender *c,
                      const struct candidate_found *found)
{
    return c->candidate.wants &&
           (standby->owned == 0 || found->watch.changed_ns < standby->taken_ns);
}

static struct candidate_found has_changed(struct standby *standby, struct contender *c)
{
    struct candidate_found found;

    candidate_look(&c->candidate, &found);
    if (found.state != CANDIDATE_WAITS)
        return found;
    standby_log_problem(c, &found);
    standby_log_hang(c, &found);
    if (may_fence(standby, c, &found))
        fence_if_silent(c, standby->options, &found);
    return found;
}

/* Adds who owns the cell to the status. */
static void describe(const struct contender *c, const struct owner_record *record,
                     char status[STATUS_MAX])
{
    size_t length = strlen(status);
    const char *joint = length > 0 ? "; " : "";

    if (c->has_owner)
        snprintf(status + length, STATUS_MAX - length,
                 "%scell %u is owned by %s, %s, incarnation %" PRIu64 "%s", joint,
                 c->candidate.cell, record->owner.name, record->owner.address, record->incarnation,
                 standby_is_foreign(record) ? ", whose version does not understand this one" : "");
    else
        snprintf(status + length, STATUS_MAX - length, "%scell %u has no owner with a valid lease",
                 joint, c->candidate.cell);
}

/* Updates the route to the owner of the cell. */
static void show_owner(struct standby *standby, struct contender *c,
                       const struct candidate_found *found, char status[STATUS_MAX])
{
    const struct owner_record *record = &found->watch.record;
    unsigned cell = c->candidate.cell;
    bool is_owned =
        found->watch.has_record && record->is_held && !lease_watch_is_silent(&found->watch);

    if (route_saw(&standby->front->route, cell, is_owned ? record : NULL, found->watch.asked_ns))
        leave_links(standby, c, record->incarnation);
    else if (!is_owned && c->has_owner && !record->is_held)
        leave_links(standby, c, record->incarnation + 1);
    else if (!is_owned && c->has_owner)
        cut_links(standby, cell, record->incarnation + 1, CUT_ALL);
    c->has_owner = is_owned;
    if (is_owned)
        standby_log_foreign(c, record);
    describe(c, record, status);
}

/* Checks each cell that is not ours. Returns the contender that has won, or NULL. */
static struct contender *refresh(struct standby *standby)
{
    unsigned count = atomic_load(&standby->count);
    char status[STATUS_MAX] = "";
    struct contender *won = NULL;

    for (unsigned i = 0; i < count; i++) {
        struct contender *c = &standby->contenders[i];
        struct candidate_found found;

        end_left_links(standby, c);
        if (c->candidate.cell == standby->owned)
            continue;
        found = has_changed(standby, c);
        show_owner(standby, c, &found, status);
        if (found.state == CANDIDATE_FAILED && !c->has_failed)
            standby_log_problem(c, &found);
        c->has_failed = found.state == CANDIDATE_FAILED;
        standby->is_open = standby->is_open || found.is_open;
        if (found.state == CANDIDATE_WON)
            won = c;
    }
    if (standby->owned == 0)
        front_set_status(standby->front, "standing by: ", status);
    return won;
}

/* ---- waiting for a cell ---- */

/* Returns true if none of the wanted cells can be owned, or the one that was claimed cannot. */
static bool has_failed(const struct standby *standby)
{
    unsigned count = atomic_load(&standby->count), wanted = 0, failed = 0;

    for (unsigned i = 0; i < count; i++) {
        wanted += standby->contenders[i].candidate.wants;
        failed += standby->contenders[i].has_failed;
    }
    return failed > 0 && (failed == wanted || atomic_load(&standby->candidacy.is_taken));
}

static void *watch(void *argument)
{
    struct standby *standby = argument;

    while (!atomic_load(&standby->watcher_ends)) {
        (void)refresh(standby);
        thread_sleep_ns(LOOK_MS * NS_PER_MS);
    }
    return NULL;
}

static void take(struct standby *standby, struct contender *c, struct standby_won *ret_won)
{
    struct candidate_found found;

    thread_join(&c->candidate.thread);
    candidate_look(&c->candidate, &found);
    standby->owned = c->candidate.cell;
    standby->taken_ns = clock_boot_ns();
    *ret_won = (struct standby_won){ .file = c->candidate.file,
                                     .record = found.record,
                                     .record_began_ns = found.record_began_ns,
                                     .serves_from_ns = found.serves_from_ns };
    c->candidate.file = (struct owner_file){ .fd = -1 };
    (void)route_saw(&standby->front->route, standby->owned, NULL, found.watch.asked_ns);
    front_set_status(standby->front, "takes the cell over", "");
}

enum standby_result standby_wait(struct standby *standby, const struct signal_watch *signals,
                                 struct standby_won *ret_won)
{
    bool said = standby->options->silent;

    for (;;) {
        struct contender *won = refresh(standby);

        if (won) {
            take(standby, won, ret_won);
            return thread_start(&standby->watcher, watch, standby) ? STANDBY_WON : STANDBY_FAILED;
        }
        if (has_failed(standby))
            return STANDBY_FAILED;
        if (!said && standby->is_open)
            printf("Lagra stands by for a cell of %s\n", standby->options->cluster);
        said = said || standby->is_open;
        fflush(stdout);
        if (signals_next(signals, LOOK_MS) == SIGNAL_END)
            return STANDBY_STOPPED;
    }
}

void standby_serves(struct standby *standby, uint64_t incarnation)
{
    unsigned count = atomic_load(&standby->count);

    for (unsigned i = 0; i < count; i++)
        if (standby->contenders[i].candidate.cell == standby->owned)
            leave_links(standby, &standby->contenders[i], incarnation);
}

/* ---- the end ---- */

/* Waits for the candidates for a limited time. Returns false if one hangs. */
static bool have_ended(struct standby *standby)
{
    uint64_t end_ms = clock_monotonic_ms() + ABANDON_MS;
    unsigned count = atomic_load(&standby->count);
    bool all_ended = true;

    for (unsigned i = 0; i < count; i++) {
        struct contender *c = &standby->contenders[i];
        uint64_t now_ms = clock_monotonic_ms();
        unsigned left_ms = now_ms < end_ms ? (unsigned)(end_ms - now_ms) : 0;

        if (!candidate_wait(&c->candidate, left_ms) || atomic_load(&c->fence.runs))
            all_ended = false;
        else
            thread_join(&c->fence.thread);
    }
    while (atomic_load(&standby->lists) && clock_monotonic_ms() < end_ms)
        thread_sleep_ns(STEP_MS * NS_PER_MS);
    return all_ended && !atomic_load(&standby->lists);
}

static void stop_watcher(struct standby *standby)
{
    atomic_store(&standby->watcher_ends, true);
    thread_join(&standby->watcher);
}

void standby_forget_servers(struct standby *standby)
{
    stop_watcher(standby);
    standby->servers = NULL;
    atomic_store(&standby->watcher_ends, standby->owned == 0);
    if (standby->owned > 0 && !thread_start(&standby->watcher, watch, standby))
        log_line(LOG_WARN, "no thread can be started to watch the owners of cells");
}

void standby_stop(struct standby *standby)
{
    stop_watcher(standby);
    atomic_store(&standby->candidacy.ends, true);
    standby->has_ended = have_ended(standby);
    if (standby->has_ended)
        thread_join(&standby->lister);
}

void standby_free(struct standby *standby)
{
    if (!standby->has_ended) /* hanging threads still use it */
        return;
    free(standby->pins_path);
    free(standby);
}
