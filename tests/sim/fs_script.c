/* See fs_script.h: requests over few names, most about what is there now, or was a moment ago. */
#include "fs_script.h"

#include "commits.h"
#include "draws.h"
#include "fs_away.h"
#include "fs_blobs.h"
#include "fs_copy.h"
#include "fs_deleted.h"
#include "fs_opens.h"
#include "sm_link.h"
#include "sm_returns.h"
#include "sm_script.h"
#include "world.h"

#define DRAWN_DEPTH      3u
#define NODES_ENOUGH     (FS_NODES / 2) /* clients that ask at once may pass it */
#define SNAPSHOTS_ENOUGH 5u
#define METADATA_MAX     1000u

static const unsigned weights[FS_OPS] = {
    [FS_CREATE_SHARE] = 1,      [FS_SNAPSHOT_SHARE] = 2,     [FS_DELETE_SNAPSHOT] = 2,
    [FS_SET_QUOTA] = 2,         [FS_LEASE_SHARE] = 2,        [FS_CREATE_PERMISSION] = 2,
    [FS_CREATE_DIRECTORY] = 12, [FS_CREATE_FILE] = 16,       [FS_COPY_FILE] = 9,
    [FS_PUT_RANGE] = 18,        [FS_PUT_RANGE_FROM_URL] = 6, [FS_CLEAR_RANGE] = 6,
    [FS_SET_LENGTH] = 5,        [FS_SET_METADATA] = 6,       [FS_SET_DIRECTORY_METADATA] = 4,
    [FS_RENAME_FILE] = 14,      [FS_RENAME_DIRECTORY] = 16,  [FS_DELETE_FILE] = 6,
    [FS_DELETE_DIRECTORY] = 7,  [FS_LEASE_FILE] = 10,        [FS_GET_FILE] = 20,
    [FS_HEAD_FILE] = 6,         [FS_HEAD_DIRECTORY] = 6,     [FS_LIST_RANGES] = 12,
    [FS_LIST_FILES] = 16,       [FS_LIST_HANDLES] = 1,       [FS_HEAD_SHARE] = 2,
    [FS_GET_PERMISSION] = 2,    [FS_LIST_SHARES] = 2,        [FS_DELETE_SHARE] = 1,
    [FS_KEEP_SHARES] = 1,       [FS_GET_SERVICE] = 1,        [FS_ABORT_COPY] = 3,
};

static void draw_cases(struct draws *draws, struct fs_path *path)
{
    path->cases = draw(draws, 3) == 0 ? (unsigned char)draw(draws, 256) : 0;
}

struct fs_path fs_script_new_path(struct draws *draws)
{
    struct fs_path path = { .depth = 1 + draw(draws, DRAWN_DEPTH) };

    for (unsigned i = 0; i < path.depth; i++)
        path.names[i] = (unsigned char)draw(draws, FS_NAMES);
    draw_cases(draws, &path);
    return path;
}

/* Of a node that is there, of that kind if there is one; else any. */
static struct fs_path draw_known(struct draws *draws, bool is_directory)
{
    const struct fs_state *state = fs_state_at(world->commits);
    unsigned first = draw(draws, FS_NODES);
    struct fs_path path;

    for (unsigned i = 0; i < FS_NODES; i++) {
        unsigned at = (first + i) % FS_NODES;

        if (at != FS_ROOT && state->nodes[at].exists &&
            state->nodes[at].is_directory == is_directory && fs_path_of(state, at, &path)) {
            draw_cases(draws, &path);
            return path;
        }
    }
    return fs_script_new_path(draws);
}

struct fs_path fs_script_known_path(struct draws *draws)
{
    return draw_known(draws, false);
}

struct fs_path fs_script_known_directory(struct draws *draws)
{
    return draw_known(draws, true);
}

/* In a directory that is there. */
struct fs_path fs_script_path_in_known(struct draws *draws)
{
    struct fs_path path = draw_known(draws, true);

    if (path.depth >= DRAWN_DEPTH || draw(draws, 3) == 0)
        return fs_script_new_path(draws);
    path.names[path.depth++] = (unsigned char)draw(draws, FS_NAMES);
    return path;
}

static bool is_of_directory(enum fs_op op)
{
    return op == FS_SET_DIRECTORY_METADATA || op == FS_DELETE_DIRECTORY ||
           op == FS_HEAD_DIRECTORY || op == FS_RENAME_DIRECTORY || op == FS_LIST_FILES;
}

static void draw_rename(struct draws *draws, struct fs_ask *ask)
{
    ask->source = draw(draws, 8) == 0 ? fs_script_new_path(draws)
                                      : draw_known(draws, ask->op == FS_RENAME_DIRECTORY);
    ask->replaces = draw(draws, 2) == 0;
    switch (draw(draws, 4)) {
    case 0: /* over another of its kind */
        ask->path = draw_known(draws, ask->op == FS_RENAME_DIRECTORY);
        break;
    case 1:
        ask->path = fs_script_new_path(draws);
        break;
    default:
        ask->path = fs_script_path_in_known(draws);
        break;
    }
    /* No deeper trees than can be asked for. */
    if (ask->op == FS_RENAME_DIRECTORY && ask->path.depth > 2)
        ask->path.depth = 2;
}

static void draw_slots(struct draws *draws, struct fs_ask *ask)
{
    ask->from = draw(draws, FS_SLOTS);
    ask->to = ask->from + 1 + draw(draws, FS_SLOTS - ask->from);
    ask->seed = 1 + draw(draws, 1000000);
    ask->length = draw(draws, 4) == 0 ? draw(draws, FS_SLOTS + 1) : FS_SLOTS;
    if (fs_is_large() && draw(draws, 3) == 0)
        ask->length = fs_large_slots();
    if (ask->op == FS_PUT_RANGE_FROM_URL)
        ask->source_from = draw(draws, 2) == 0 ? ask->from : draw(draws, FS_SLOTS);
}

/* ---- leases ---- */

/* The one that there is now, most often. */
static unsigned draw_lease(struct draws *draws, const struct fs_lease *lease)
{
    unsigned any = draw(draws, LEASE_IDS + 1);

    if (lease->state == FS_AVAILABLE)
        return draw(draws, 30) == 0 ? any : 0;
    return draw(draws, 4) > 0 ? lease->id : any;
}

static struct fs_lease lease_at(const struct fs_path *path)
{
    const struct fs_state *state = fs_state_at(world->commits);
    unsigned node = fs_find(state, path);

    return node < FS_NODES ? state->nodes[node].lease : (struct fs_lease){ .state = FS_AVAILABLE };
}

/* An action, with what it needs. Those of files are not renewed. */
static void draw_act(struct draws *draws, struct fs_ask *ask, const struct fs_lease *lease)
{
    static const enum lease_act likely[] = { ACT_ACQUIRE, ACT_ACQUIRE, ACT_RELEASE,
                                             ACT_RELEASE, ACT_CHANGE,  ACT_BREAK };

    ask->act = likely[draw(draws, 6)];
    if (ask->op == FS_LEASE_SHARE && draw(draws, 4) == 0)
        ask->act = ACT_RENEW;
    ask->proposed =
        ask->act == ACT_ACQUIRE || ask->act == ACT_CHANGE ? 1 + draw(draws, LEASE_IDS) : 0;
    ask->lease = draw_lease(draws, lease);
    if (ask->act == ACT_ACQUIRE || (ask->act == ACT_BREAK && draw(draws, 2) == 0))
        ask->lease = 0;
    else if (ask->act != ACT_BREAK && ask->lease == 0)
        ask->lease = 1 + draw(draws, LEASE_IDS);
    if (ask->op == FS_LEASE_SHARE && ask->act == ACT_BREAK)
        ask->lease = 0;
}

static void draw_leases(struct draws *draws, struct fs_ask *ask)
{
    struct fs_lease lease =
        fs_has_path(ask->op) ? lease_at(&ask->path) : fs_state_at(world->commits)->lease;

    if (ask->op == FS_LEASE_FILE || ask->op == FS_LEASE_SHARE) {
        draw_act(draws, ask, &lease);
        return;
    }
    if (is_of_directory(ask->op) || ask->op == FS_CREATE_DIRECTORY || ask->op == FS_LIST_HANDLES ||
        (!fs_has_path(ask->op) && ask->op != FS_SET_QUOTA && ask->op != FS_HEAD_SHARE &&
         ask->op != FS_DELETE_SHARE))
        return;
    if (!fs_is_read(ask->op) || draw(draws, 3) == 0)
        ask->lease = draw_lease(draws, &lease);
    if (ask->op == FS_RENAME_FILE) {
        struct fs_lease source = lease_at(&ask->source);

        ask->source_lease = draw_lease(draws, &source);
        if (!ask->replaces)
            ask->lease = 0;
    }
    if (ask->snapshot.commit > 0)
        ask->lease = 0;
}

/* ---- lists, copies, permissions ---- */

static void draw_page(struct draws *draws, struct fs_ask *ask)
{
    struct fs_page *page = &ask->page;

    page->max = draw(draws, 2) == 0 ? 1 + draw(draws, 3) : 0;
    if (ask->op == FS_LIST_RANGES) {
        if (draw(draws, 2) == 0)
            (void)fs_known_snapshot(draw(draws, 1000), &ask->previous);
        return;
    }
    page->include = draw(draws, 2) == 0 ? draw(draws, 16) : 0;
    if (ask->op == FS_LIST_SHARES) {
        page->include &= FS_SNAPSHOTS | FS_METADATA | FS_DELETED;
        page->prefix = draw(draws, 8) == 0 ? 4 : 0;
        return;
    }
    page->prefix = draw(draws, 3) == 0 ? draw(draws, FS_PREFIXES) : 0;
    page->marker = draw(draws, 3) == 0 ? 1 + draw(draws, 2 * FS_NAMES) : 0;
    if (draw(draws, 5) == 0)
        ask->path = (struct fs_path){ .depth = 0 };
}

/* One that is long enough for a copy to be pending, if there is any. */
static struct fs_path draw_long(struct draws *draws)
{
    const struct fs_state *state = fs_state_at(world->commits);
    unsigned first = draw(draws, FS_NODES);
    struct fs_path path;

    for (unsigned i = 0; i < FS_NODES; i++) {
        unsigned at = (first + i) % FS_NODES;

        if (state->nodes[at].exists && state->nodes[at].length > FS_SLOTS &&
            fs_path_of(state, at, &path))
            return path;
    }
    return draw_known(draws, false);
}

static void draw_remote(struct draws *draws, struct fs_ask *ask)
{
    bool is_long = fs_is_large() && draw(draws, 2) == 0;

    ask->is_remote = true;
    ask->fate = draw(draws, 3) == 0 ? (enum fate)draw(draws, FATES) : FATE_STAYS;
    ask->source_length = is_long ? fs_large_slots() : draw(draws, FS_SLOTS + 1);
}

/* Of one that is pending, most often by its id. */
static void draw_abort(struct draws *draws, struct fs_ask *ask)
{
    const struct fs_state *state = fs_state_at(world->commits);
    const struct fs_node *pending = fs_pending(draw(draws, FS_NODES));

    if (!pending && draw(draws, 4) > 0)
        ask->op = FS_HEAD_FILE;
    if (!pending)
        return;
    (void)fs_path_of(state, (unsigned)(pending - state->nodes), &ask->path);
    draw_cases(draws, &ask->path);
    ask->copy = pending->copy->id;
    ask->copy.bytes[0] ^= draw(draws, 5) == 0;
}

static void draw_source(struct draws *draws, struct fs_ask *ask)
{
    if (fs_has_blobs() && draw(draws, 3) == 0) {
        ask->source_blob = 1 + draw(draws, FS_BLOBS);
        return;
    }
    if (ask->op == FS_COPY_FILE && draw(draws, 4) == 0) {
        draw_remote(draws, ask);
        return;
    }
    ask->source = fs_is_large() && draw(draws, 2) == 0 ? draw_long(draws)
                  : draw(draws, 10) == 0               ? fs_script_new_path(draws)
                                                       : draw_known(draws, false);
    if (draw(draws, 3) == 0)
        (void)fs_known_snapshot(draw(draws, 1000), &ask->source_snapshot);
}

static bool takes_permission(enum fs_op op)
{
    return op == FS_CREATE_DIRECTORY || op == FS_CREATE_FILE || op == FS_SET_LENGTH;
}

static void draw_permission(struct draws *draws, struct fs_ask *ask)
{
    unsigned known = ask->op == FS_GET_PERMISSION ? FS_PERMISSIONS_KNOWN : FS_PERMISSIONS;
    unsigned drawn = 1 + draw(draws, known);

    if (ask->op == FS_GET_PERMISSION && !fs_known_key(drawn)[0])
        drawn = 1 + draw(draws, FS_PERMISSIONS);
    if (ask->op == FS_GET_PERMISSION && !fs_known_key(drawn)[0])
        ask->op = FS_CREATE_PERMISSION;
    if (ask->op == FS_GET_PERMISSION || ask->op == FS_CREATE_PERMISSION ||
        (takes_permission(ask->op) && draw(draws, 6) == 0))
        ask->permission = drawn;
}

/* Of what is read one in four. */
static void draw_snapshot(struct draws *draws, struct fs_ask *ask)
{
    unsigned random = draw(draws, 1000);

    if (ask->op == FS_SNAPSHOT_SHARE && fs_snapshot_count() >= SNAPSHOTS_ENOUGH)
        ask->op = FS_DELETE_SNAPSHOT;
    if (ask->op == FS_DELETE_SNAPSHOT && !fs_known_snapshot(random, &ask->snapshot))
        ask->op = FS_HEAD_DIRECTORY;
    if (fs_is_read(ask->op) && fs_has_path(ask->op) && draw(draws, 4) == 0)
        (void)fs_known_snapshot(random, &ask->snapshot);
}

/* When there is no share it is soon made anew, or restored once a list has shown what can be. */
static void draw_share(struct draws *draws, struct fs_ask *ask)
{
    bool exists = fs_state_at(world->commits)->exists;

    /* What becomes of SMB's handles in it the model does not know. */
    if (ask->op == FS_DELETE_SHARE && (world->plan.faults & FAULT_SMB))
        ask->op = FS_HEAD_SHARE;
    if (!exists && draw(draws, 3) == 0)
        ask->op = draw(draws, 4) == 0 ? FS_CREATE_SHARE : FS_RESTORE_SHARE;
    else if (draw(draws, 300) == 0)
        ask->op = FS_RESTORE_SHARE;
    if (ask->op == FS_RESTORE_SHARE && !fs_known_version(draw(draws, 1000), &ask->snapshot))
        ask->op = FS_LIST_SHARES;
    if (ask->op == FS_LIST_SHARES && !exists)
        ask->page.include = FS_DELETED;
    ask->replaces = ask->op == FS_DELETE_SHARE && draw(draws, 4) > 0;
    ask->retention = ask->op == FS_KEEP_SHARES && draw(draws, 4) > 0 ? FS_RETENTION_DAYS : 0;
}

static void draw_blob(struct draws *draws, struct fs_ask *ask)
{
    static const enum fs_op ops[] = { FS_PUT_BLOB,    FS_PUT_BLOB, FS_PUT_PAGES,
                                      FS_DELETE_BLOB, FS_GET_BLOB, FS_PUT_PAGES };

    ask->op = ops[draw(draws, sizeof ops / sizeof ops[0])];
    if (!fs_state_at(world->commits)->has_container && draw(draws, 4) > 0)
        ask->op = FS_CREATE_CONTAINER;
    ask->blob = draw(draws, FS_BLOBS);
    draw_slots(draws, ask);
    fs_blob_settle(ask);
}

static bool is_creation(enum fs_op op)
{
    return op == FS_CREATE_DIRECTORY || op == FS_CREATE_FILE || op == FS_COPY_FILE;
}

static void draw_path(struct draws *draws, struct fs_ask *ask)
{
    if (ask->op == FS_RENAME_FILE || ask->op == FS_RENAME_DIRECTORY)
        draw_rename(draws, ask);
    else if (is_creation(ask->op))
        ask->path = draw(draws, 4) == 0 ? draw_known(draws, ask->op == FS_CREATE_DIRECTORY)
                                        : fs_script_path_in_known(draws);
    else if (fs_has_path(ask->op))
        ask->path = draw(draws, 10) == 0 ? fs_script_new_path(draws)
                                         : draw_known(draws, is_of_directory(ask->op));
    if (fs_has_path(ask->op) && !is_of_directory(ask->op))
        (void)sm_return_meets(draws, ask->op == FS_RENAME_FILE ? &ask->source : &ask->path);
}

void fs_script_draw(unsigned client, unsigned number, struct ask *ret_ask)
{
    struct draws draws = draws_of(client, number);
    struct ask ask = { .op = OPS };
    struct fs_ask *fs = &ask.fs;

    if (sm_is_client(client)) {
        sm_script_draw(client, number, ret_ask);
        return;
    }

    fs->op = number == 0 ? FS_CREATE_SHARE : (enum fs_op)draw_weighted(&draws, weights, FS_OPS);
    if (fs_is_large() && number > 0 && draw(&draws, 7) == 0) /* it may be pending */
        fs->op = fs_pending(0) && draw(&draws, 4) == 0 ? FS_ABORT_COPY : FS_COPY_FILE;
    if (is_creation(fs->op) && fs_node_count(fs_state_at(world->commits)) > NODES_ENOUGH)
        fs->op = draw(&draws, 2) == 0 ? FS_DELETE_FILE : FS_DELETE_DIRECTORY;
    if (fs_is_late())
        fs->op = FS_HEAD_SHARE;
    if (commits_are_divided() && fs->op == FS_KEEP_SHARES)
        fs->op = FS_GET_SERVICE;
    draw_share(&draws, fs);
    if (fs_has_blobs() && number > 0 && !fs_is_late() && draw(&draws, 7) == 0)
        draw_blob(&draws, fs);
    draw_snapshot(&draws, fs);
    draw_path(&draws, fs);
    if (fs->op == FS_ABORT_COPY)
        draw_abort(&draws, fs);
    if (fs_has_source(fs->op))
        draw_source(&draws, fs);
    if (fs_has_path(fs->op))
        draw_slots(&draws, fs);
    if (fs->op == FS_SET_QUOTA)
        fs->quota = 1 + draw(&draws, fs_is_large() ? 2 : 5000);
    if (fs->op == FS_LIST_RANGES || fs->op == FS_LIST_FILES ||
        (fs->op == FS_LIST_SHARES && fs->page.include == 0))
        draw_page(&draws, fs);
    fs->has_range = ((fs->op == FS_GET_FILE || fs->op == FS_GET_BLOB) &&
                     (fs_is_large() || draw(&draws, 2) == 0)) ||
                    (fs->op == FS_LIST_RANGES && draw(&draws, 4) == 0);
    if (is_creation(fs->op) || fs->op == FS_PUT_BLOB || fs->op == FS_SET_METADATA ||
        fs->op == FS_SET_DIRECTORY_METADATA)
        fs->metadata = draw(&draws, METADATA_MAX);
    if (fs->op == FS_CREATE_DIRECTORY || fs->op == FS_COPY_FILE)
        fs->length = 0;
    draw_permission(&draws, fs);
    draw_leases(&draws, fs);
    if (fs_needs_letters(fs) && draw(&draws, 6) == 0) {
        fs->letters = draw(&draws, 2) == 0 ? FS_LETTERS_ALL : 1 + draw(&draws, FS_LETTERS - 1);
        ask.signature = SIGNED_BY_SAS;
    }
    draw_behaviour(&draws, &ask, 40, 30);
    *ret_ask = ask;
}
