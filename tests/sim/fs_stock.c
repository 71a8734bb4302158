/* After a start: all that there is, and which state it is (fs_judge.h). */
#include <inttypes.h>
#include <string.h>

#include "commits.h"
#include "engine.h"
#include "fs_away.h"
#include "fs_copy.h"
#include "fs_judge.h"
#include "fs_model.h"
#include "judge.h"
#include "scheduler.h"
#include "sm_judge.h"
#include "sm_link.h"
#include "world.h"

/* Every path that was there in a state that the crash may have left is asked for as a directory and as
 * a file, and with the id of its lease, since nothing else shows whose that is. */
#define STOCK_MAX 480u
/* Longer than a handle is kept. */
#define KEPT_NS   (360 * UINT64_C(1000000000))

static struct stock {
    struct ask ask;
    struct reply answer;
} stock[STOCK_MAX];
static unsigned stock_count;

static void list(const struct fs_ask *ask)
{
    for (unsigned i = 0; i < stock_count; i++) {
        const struct fs_ask *other = &stock[i].ask.fs;

        if (other->op == ask->op && other->lease == ask->lease && other->blob == ask->blob &&
            fs_same_path(&other->path, &ask->path))
            return;
    }
    if (stock_count < STOCK_MAX)
        stock[stock_count++].ask = (struct ask){ .op = OPS, .fs = *ask };
}

static void list_path(const struct fs_path *path, const struct fs_lease *lease)
{
    struct fs_ask ask = { .op = FS_HEAD_DIRECTORY, .path = *path };

    list(&ask);
    ask.op = FS_GET_FILE;
    ask.has_range = fs_is_large();
    ask.to = fs_is_large() ? FS_SLOTS : 0;
    list(&ask);
    if (fs_is_large()) { /* a range of an empty file is refused, and shows no ETag */
        ask = (struct fs_ask){ .op = FS_HEAD_FILE, .path = *path };
        list(&ask);
    }
    ask = (struct fs_ask){ .op = FS_HEAD_FILE, .path = *path, .lease = lease->id };
    if (lease->id > 0)
        list(&ask);
}

/* What a state has. */
static void list_state(const struct fs_state *state)
{
    const struct fs_ask share = { .op = FS_HEAD_SHARE, .lease = state->lease.id };
    struct fs_path path;

    list(&share);
    for (unsigned i = FS_ROOT + 1; i < FS_NODES; i++) {
        if (state->nodes[i].exists && fs_path_of(state, i, &path))
            list_path(&path, &state->nodes[i].lease);
    }
}

static void list_blobs(void)
{
    struct fs_ask ask = { .op = FS_GET_BLOB, .has_range = fs_is_large() };

    ask.to = fs_is_large() ? FS_SLOTS : 0;
    for (ask.blob = 0; ask.blob < FS_BLOBS; ask.blob++)
        list(&ask);
}

static void list_stock(void)
{
    static const struct fs_ask snapshots = { .op = FS_LIST_SHARES,
                                             .page = { .include = FS_SNAPSHOTS | FS_DELETED } };
    static const struct fs_ask service = { .op = FS_GET_SERVICE };
    static const struct fs_ask share = { .op = FS_HEAD_SHARE };
    static const struct fs_lease none = { .state = FS_AVAILABLE };
    const struct fs_state *state = fs_state_at(world->commits);
    struct fs_path path = { .depth = 1 };

    memset(stock, 0, sizeof stock);
    stock_count = 0;
    list(&share);
    if (!commits_are_divided()) { /* otherwise the root responds for all cells */
        list(&snapshots);
        list(&service);
    }
    if (fs_has_blobs())
        list_blobs();
    for (unsigned i = 0; i < FS_NAMES; i++) { /* also where nothing is known to be */
        path.names[0] = (unsigned char)i;
        list_path(&path, &none);
    }
    for (;; state = state->older) {
        list_state(state);
        if (commits_is_acknowledged(state->since) || !state->older)
            return;
    }
}

/* returns the number of the first that does not fit; stock_count: all fit */
static unsigned first_difference(const struct fs_state *state, const char **ret_why)
{
    unsigned i = 0;

    while (i < stock_count && (judge_reports_damage(&stock[i].answer) ||
                               !(*ret_why = fs_compare(&stock[i].ask.fs, &stock[i].answer, state))))
        i++;
    return i;
}

/* The same, of a state in which handles may have ended before this start: those whose end fits what was found have. */
static unsigned first_difference_by_handles(struct fs_state *state, const char **ret_why)
{
    static struct fs_state ended;
    unsigned first = first_difference(state, ret_why);
    const char *why = NULL;

    ended = *state;
    if (first == stock_count)
        return first;
    while (fs_end_doubtful(&ended)) {
        if (first_difference(&ended, &why) < stock_count)
            continue;
        *state = ended;
        return stock_count;
    }
    return first;
}

/* Which commits the crash has left is known of the record engine, where the disk is not damaged. */
static bool may_be_left(const struct fs_state *state)
{
    return commits_here()->has_started || world->was_damaged ||
           state->sequence <= engine_opened_at();
}

/* The newest commit that the crash has left: its state has to be the one that was found. Of a damaged disk, of those
 * that it may have left. */
static uint64_t find_survivor(void)
{
    char asked[300];

    for (struct fs_state *state = fs_newest_state();; state = state->older) {
        const char *why = NULL;
        unsigned differs =
            may_be_left(state) ? first_difference_by_handles(state, &why) : stock_count;

        if (differs == stock_count && may_be_left(state))
            return state->since;
        if (state->since > commits_acknowledged() && state->older &&
            (!may_be_left(state) || commits_here()->has_started || world->was_damaged))
            continue;
        if (!may_be_left(state)) {
            why = "it is not there";
            differs = 0;
        }
        ask_format(&stock[differs].ask, asked, sizeof asked);
        world_fail("after a %s the state is none that there was since commit %" PRIu64
                   ", the newest acknowledged; %" PRIu64 " was the last\n  %s: %d %s\n  %s",
                   world->power_lost ? "power cut" : "kill", commits_acknowledged(), world->commits,
                   asked, stock[differs].answer.status, stock[differs].answer.code, why);
    }
}

/* Returns the newest surviving commit, from the record engine. For several cells. */
static uint64_t check_survivor(void)
{
    uint64_t survivor = commits_here()->has_started ? commits_newest() : commits_survivor();
    struct fs_state *state = fs_state_left(survivor);

    if (survivor < commits_acknowledged())
        world_fail("after a %s commit %" PRIu64 " is the last, and %" PRIu64 " was acknowledged",
                   world->power_lost ? "power cut" : "kill", survivor, commits_acknowledged());
    for (unsigned i = 0; i < stock_count; i++) {
        const char *why = state ? fs_compare(&stock[i].ask.fs, &stock[i].answer, state)
                          : stock[i].answer.status == 404 ? NULL
                                                          : "a share of another cell is here";
        char asked[300];

        if (!why)
            continue;
        ask_format(&stock[i].ask, asked, sizeof asked);
        world_fail("after a %s the state is not that of commit %" PRIu64
                   ", the last\n  %s: %d %s\n  %s",
                   world->power_lost ? "power cut" : "kill", survivor, asked,
                   stock[i].answer.status, stock[i].answer.code, why);
    }
    return survivor;
}

/* ETags that nobody had been told are told now. */
static void adopt(const struct stock *one, const struct fs_state *state)
{
    unsigned node = fs_find(state, &one->ask.fs.path);
    const char *why;

    if (judge_reports_damage(&one->answer) || one->answer.status >= 300 ||
        !fs_has_path(one->ask.fs.op) || node == FS_NODES)
        return;
    why = fs_fill(state->nodes[node].version, one->answer.etag);
    if (why)
        world_fail("after a start: %s", why);
}

bool fs_judge_take_stock(struct server *server, bool may_fail)
{
    uint64_t survivor;

    if (commits_here()->has_started && (world->plan.faults & FAULT_SMB))
        sched_sleep(KEPT_NS); /* nobody comes back any more: what is away is closed */
    if (commits_here()->has_started && !fs_copies_wait(server))
        return false;
    sm_judge_end_life();
    if (commits_here()->has_started) /* nothing has been lost */
        commits_acknowledge_all();
    fs_forget_opens(); /* their process has ended, or all clients have left */
    list_stock();
    for (unsigned i = 0; i < stock_count; i++) {
        if (!judge_ask_until_told(server, &stock[i].ask, may_fail, &stock[i].answer)) {
            while (i > 0)
                answer_release(&stock[--i].answer);
            return false;
        }
        if (judge_reports_damage(&stock[i].answer))
            world->damage_told = 1;
    }
    survivor = commits_are_divided() ? check_survivor() : find_survivor();
    world_say("commit %" PRIu64 " of %" PRIu64 " survived, %" PRIu64 " was acknowledged", survivor,
              world->commits, commits_acknowledged());
    fs_roll_back(survivor);
    commits_roll_back(survivor);
    for (unsigned i = 0; i < stock_count; i++) {
        if (!commits_are_divided() || fs_is_here())
            adopt(&stock[i], fs_newest_state());
        answer_release(&stock[i].answer);
    }
    if (!commits_are_divided()) /* else requests to other cells are in progress */
        fs_prune(survivor);
    return true;
}
