/* See path_script.h: few names, so that renames, deletes and appends of many clients conflict. */
#include "path_script.h"

#include <string.h>

#include "base/clock.h"
#include "draws.h"
#include "path_judge.h"
#include "path_model.h"
#include "world.h"

static const unsigned weights[PATH_OPS] = {
    [PATH_CREATE_FILESYSTEM] = 1,
    [PATH_HOLD] = 2,
    [PATH_DELETE_FILESYSTEM] = 1,
    [PATH_CREATE_FILE] = 8,
    [PATH_CREATE_DIRECTORY] = 6,
    [PATH_PUT] = 8,
    [PATH_APPEND] = 16,
    [PATH_FLUSH] = 14,
    [PATH_SET_PROPERTIES] = 4,
    [PATH_SET_ACL] = 6,
    [PATH_LEASE] = 14,
    [PATH_PUT_BLOCK] = 8,
    [PATH_PUT_BLOCK_LIST] = 6,
    [PATH_SNAPSHOT] = 4,
    [PATH_RENAME] = 24,
    [PATH_DELETE] = 8,
    [PATH_SET_EXPIRY] = 6,
    [PATH_UNDELETE] = 8,
    [PATH_SET_SERVICE] = 2,
    [PATH_READ] = 14,
    [PATH_GET_FILESYSTEM] = 1,
    [PATH_GET_PROPERTIES] = 8,
    [PATH_GET_ACCESS] = 3,
    [PATH_GET_BLOCK_LIST] = 4,
    [PATH_LIST] = 14,
    [PATH_LIST_DELETED] = 8,
    [PATH_GET_SERVICE] = 1,
};

/* Most retention is over within the run. */
#define DAYS_MAX      20u
#define EXPIRY_MAX_MS 20000u

static const struct path_node *newest(unsigned place)
{
    return path_node_at(place, world->commits);
}

/* Draws the root of a filesystem, mostly of one that exists. */
static unsigned draw_root(struct draws *draws)
{
    unsigned count = path_filesystem_count(), filesystem = draw(draws, count);

    if (!path_filesystem_exists(filesystem * PATH_OF_ONE, world->commits) && draw(draws, 8) != 0)
        filesystem = (filesystem + 1) % count;
    return filesystem * PATH_OF_ONE;
}

static unsigned draw_place(struct draws *draws)
{
    static const unsigned below[] = { 3, 12, 12, 39 };

    return draw_root(draws) + 1 + draw(draws, below[draw(draws, 4)]);
}

/* Draws an existing place, of the given kind if one is found in `tries` draws. */
static unsigned draw_existing(struct draws *draws, bool is_directory, unsigned tries)
{
    unsigned place = draw_place(draws);

    while (tries-- > 0 && (!newest(place) || newest(place)->is_directory != is_directory))
        place = draw_place(draws);
    return place;
}

static unsigned depth(unsigned place)
{
    unsigned count = 0;

    for (; !path_is_root(place); place = path_parent(place))
        count++;
    return count;
}

/* Writes that can create a path mostly require that it does not exist. */
static void draw_condition(struct draws *draws, const struct path_node *node, bool creates,
                           struct path_condition *condition)
{
    enum path_if kind = creates && draw(draws, 3) == 0
                            ? PATH_IF_NONE_MATCH_ANY
                            : (enum path_if)(1 + draw(draws, PATH_IFS - 1));
    const struct path_stamp *stamp = node ? node->stamp : NULL;

    if ((kind == PATH_IF_MATCH || kind == PATH_IF_NONE_MATCH) && (!stamp || stamp->etag == 0))
        kind = PATH_IF_MATCH_ANY;
    if (kind >= PATH_IF_MODIFIED && (!stamp || stamp->modified_s == 0))
        kind = PATH_IF_MATCH_ANY;
    condition->kind = kind;
    if (kind == PATH_IF_MATCH || kind == PATH_IF_NONE_MATCH)
        condition->etag = stamp->etag;
    if (kind >= PATH_IF_MODIFIED)
        condition->date = stamp->modified_s + (int64_t)draw(draws, 3) - 1;
}

static bool is_of_retention(enum path_op op)
{
    return (op >= PATH_SET_EXPIRY && op <= PATH_SET_SERVICE) || op >= PATH_LIST_DELETED;
}

static void draw_conditions(struct draws *draws, struct path_ask *ask)
{
    bool is_read = ask->op >= PATH_READ;
    bool creates = ask->op <= PATH_PUT || ask->op == PATH_PUT_BLOCK_LIST || ask->op == PATH_RENAME;

    if (ask->op <= PATH_DELETE_FILESYSTEM || ask->op == PATH_APPEND || ask->op == PATH_LIST ||
        ask->op == PATH_PUT_BLOCK || ask->op == PATH_GET_BLOCK_LIST ||
        ask->op == PATH_GET_FILESYSTEM || ask->snapshot[0] || is_of_retention(ask->op))
        return;
    if (draw(draws, ask->op == PATH_RENAME ? 3 : 4) == 0)
        draw_condition(draws, newest(ask->place), creates, &ask->condition);
    if (is_read && ask->condition.kind == PATH_IF_NONE_MATCH_ANY)
        ask->condition.kind = PATH_IF_MATCH_ANY; /* is refused at once */
    if (ask->op == PATH_RENAME && draw(draws, 4) == 0)
        draw_condition(draws, newest(ask->from), false, &ask->source_condition);
    if (ask->source_condition.kind == PATH_IF_NONE_MATCH_ANY)
        ask->source_condition.kind = PATH_IF_MATCH_ANY;
}

/* Returns mostly the id of the lease that the path has. */
static unsigned draw_lease_id(struct draws *draws, const struct path_node *node)
{
    const struct model_lease *lease = node ? &node->lease : NULL;
    bool has_ended = lease && lease->ends.to_ns > 0 && lease->ends.to_ns < world->now_ns;

    if (lease && lease->kind != LEASE_FREE && draw(draws, 8) < (has_ended ? 2u : 7u))
        return lease->id;
    return draw(draws, 24) == 0 ? 1 + draw(draws, PATH_LEASE_IDS) : 0;
}

static void draw_proposed(struct draws *draws, struct path_ask *ask)
{
    ask->lease.proposed = 1 + draw(draws, PATH_LEASE_IDS);
    ask->lease.duration_s = draw(draws, 2) == 0 ? PATH_LEASE_S : -1;
}

static void draw_lease(struct draws *draws, struct path_ask *ask)
{
    static const enum lease_act acts[] = { ACT_ACQUIRE, ACT_ACQUIRE, ACT_RENEW, ACT_CHANGE,
                                           ACT_RELEASE, ACT_RELEASE, ACT_BREAK };
    static const int breaks[] = { -1, 0, 0, 10 };

    ask->place = draw_existing(draws, draw(draws, 3) == 0, 4);
    ask->by_blob = draw(draws, 2) == 0;
    ask->lease.act = acts[draw(draws, 7)];
    draw_proposed(draws, ask);
    ask->lease.break_s = breaks[draw(draws, 4)];
    if (ask->lease.act == ACT_RENEW || ask->lease.act == ACT_CHANGE ||
        ask->lease.act == ACT_RELEASE) {
        ask->lease.id = draw_lease_id(draws, newest(ask->place));
        if (ask->lease.id == 0)
            ask->lease.act = ACT_ACQUIRE; /* the id is required */
    }
}

/* Draws the ids of leases of other requests, and what an append or flush does to its file's. */
static void draw_leases(struct draws *draws, struct path_ask *ask)
{
    bool flushes = ask->op == PATH_FLUSH || ask->flushes;
    const struct path_node *node = newest(ask->place);

    if (ask->op <= PATH_DELETE_FILESYSTEM || ask->op == PATH_GET_FILESYSTEM ||
        ask->op == PATH_LEASE || ask->op == PATH_LIST || ask->snapshot[0] ||
        is_of_retention(ask->op))
        return;
    if (ask->op == PATH_RENAME && !ask->is_legacy && node && node->is_directory)
        node = NULL; /* it moves into the directory */
    ask->lease.id = draw_lease_id(draws, node);
    if (ask->op == PATH_RENAME)
        ask->source_lease = draw_lease_id(draws, newest(ask->from));
    if ((ask->op != PATH_APPEND && ask->op != PATH_FLUSH) || draw(draws, 3) != 0)
        return;
    ask->lease_action = (enum path_lease)(1 + draw(draws, flushes ? 4 : 2));
    draw_proposed(draws, ask);
    if ((ask->lease_action == PATH_RENEWS || ask->lease_action == PATH_RELEASES) &&
        ask->lease.id == 0)
        ask->lease_action = PATH_ACQUIRES; /* the id is required */
}

static struct path_rights draw_rights(struct draws *draws)
{
    static const unsigned of_user[] = { 7, 7, 7, 6, 5 }, of_others[] = { 0, 4, 5, 7, 7, 7, 7, 7 };
    struct path_rights rights = { .user = of_user[draw(draws, 5)],
                                  .group = of_others[draw(draws, 8)],
                                  .other = of_others[draw(draws, 8)] };

    if (draw(draws, 3) == 0) {
        rights.named = 1 + draw(draws, PATH_USERS);
        rights.of_named = draw(draws, 2) == 0 ? 7 : draw(draws, 8);
    }
    return rights;
}

/* The root first lets users in. */
static void draw_acl(struct draws *draws, struct path_ask *ask)
{
    const struct path_node *node;
    unsigned root;

    ask->place =
        draw(draws, 4) == 0 ? draw_root(draws) : draw_existing(draws, draw(draws, 2) == 0, 4);
    root = path_root(ask->place);
    if (newest(root) && !newest(root)->acl.has_defaults)
        ask->place = root;
    node = newest(ask->place);
    ask->acl.access = draw_rights(draws);
    ask->sets_mode = draw(draws, 4) == 0;
    ask->acl.is_sticky = ask->sets_mode && draw(draws, 2) == 0;
    if (ask->sets_mode)
        ask->acl.access.named = PATH_NO_USER;
    ask->acl.has_defaults = node && node->is_directory ? draw(draws, 2) == 0 || ask->place == root
                                                       : draw(draws, 16) == 0;
    if (ask->acl.has_defaults)
        ask->acl.defaults = draw_rights(draws);
    if (ask->place == root && draw(draws, 4) != 0)
        ask->acl.access.other = ask->acl.defaults.other = 7;
}

static void draw_content(struct draws *draws, struct path_ask *ask)
{
    static const unsigned below[] = { 2, 100, 3000, 20000 };

    ask->content.seed = 1 + draw(draws, 1u << 30);
    ask->content.length = 1 + draw(draws, below[draw(draws, 4)]);
}

/* Returns the end of the staged bytes that follow the file. */
static uint32_t staged_end(const struct path_node *node)
{
    uint32_t end = path_length(node);

    for (unsigned i = 0; i < node->staged_count; i++) {
        if (node->staged[i].position == end)
            end += node->staged[i].content.length;
    }
    return end;
}

static void draw_update(struct draws *draws, struct path_ask *ask)
{
    const struct path_node *node;

    ask->place = draw_existing(draws, false, 6);
    node = newest(ask->place);
    /* Otherwise the model would need more and more memory. */
    if (node && (node->is_doubtful || node->is_unknown || node->part_count > PATH_PARTS_MANY ||
                 node->staged_count > PATH_STAGED_MAX / 2)) {
        ask->op = PATH_CREATE_FILE;
        return;
    }
    ask->position = node ? staged_end(node) : 0;
    if (ask->op == PATH_APPEND)
        draw_content(draws, ask);
    if (draw(draws, 8) == 0)
        ask->position = draw(draws, 2) == 0 ? draw(draws, 100) : ask->position + draw(draws, 100);
    ask->keeps_rest = ask->op == PATH_FLUSH && draw(draws, 3) == 0;
    ask->flushes = ask->op == PATH_APPEND && draw(draws, 4) == 0;
}

/* Draws renames to places that are not deeper than the source, so that all descendants have a place. */
static void draw_rename(struct draws *draws, struct path_ask *ask)
{
    ask->from = draw_existing(draws, draw(draws, 2) == 0, 8);
    ask->is_legacy = draw(draws, 2) == 0;
    do
        ask->place = draw(draws, 12) == 0 && !ask->is_legacy ? draw_root(draws) : draw_place(draws);
    while (depth(ask->place) + !ask->is_legacy > depth(ask->from) && depth(ask->place) > 1);
    if (depth(ask->place) + !ask->is_legacy > depth(ask->from))
        ask->is_legacy = true;
    if (path_is_root(ask->place))
        ask->is_legacy = false;
}

static void draw_list(struct draws *draws, unsigned client, struct path_ask *ask)
{
    if (draw(draws, 2) == 0 && path_judge_next_page(client, ask))
        return;
    ask->place = draw(draws, 3) == 0 ? draw_root(draws) : draw_existing(draws, true, 4);
    if (newest(ask->place) && !newest(ask->place)->is_directory)
        ask->place = path_root(ask->place);
    ask->is_recursive = draw(draws, 2) == 0;
    ask->max = draw(draws, 3) == 0 ? 0 : 1 + draw(draws, 3);
}

/* Draws blocks that the file has, if it has any. */
static void draw_block_list(struct draws *draws, struct path_ask *ask)
{
    const struct path_node *node = newest(ask->place);

    ask->list_count = draw(draws, 8) == 0 ? 0 : 1 + draw(draws, PATH_LIST_BLOCKS);
    for (unsigned i = 0; i < ask->list_count; i++) {
        unsigned block = draw(draws, PATH_BLOCK_IDS), tries = PATH_BLOCK_IDS;

        ask->list[i].source = (enum path_block_source)draw(draws, 3);
        while (node && tries-- > 0 && node->blocks[block].block == 0)
            block = (block + 1) % PATH_BLOCK_IDS;
        if (node && node->blocks[block].block > 0 && draw(draws, 2) == 0)
            ask->list[i].source = PATH_UNCOMMITTED;
        if (node && node->part_count > 0 && node->parts[0].block > 0 && draw(draws, 3) == 0) {
            block = node->parts[0].block - 1;
            ask->list[i].source = PATH_COMMITTED;
        }
        ask->list[i].block = block;
        for (unsigned j = 0; j < i; j++)
            if (ask->list[j].block == block)
                ask->list[i].source = ask->list[j].source; /* others are malformed */
    }
}

static void draw_blocks(struct draws *draws, struct path_ask *ask)
{
    ask->by_blob = true;
    if (draw(draws, 3) != 0)
        ask->place = draw_existing(draws, false, 6);
    if (ask->op == PATH_PUT_BLOCK) {
        draw_content(draws, ask);
        ask->content.block = 1 + draw(draws, PATH_BLOCK_IDS);
    } else if (ask->op == PATH_PUT_BLOCK_LIST) {
        draw_block_list(draws, ask);
    }
}

/* Reads and deletes snapshots through the Blob endpoint. */
static void draw_snapshot(struct draws *draws, struct path_ask *ask)
{
    const struct path_node *node = newest(ask->place);

    if (!ask->by_blob || !node || node->snapshot_count == 0 || draw(draws, 2) != 0)
        return;
    memcpy(ask->snapshot, node->snapshots[draw(draws, node->snapshot_count)].time->text,
           sizeof ask->snapshot);
}

static void draw_expiry(struct draws *draws, struct path_ask *ask)
{
    uint64_t now_s = (clock_now() - INSTANT_UNIX_EPOCH) / TICKS_PER_SECOND;

    ask->expiry = (enum path_expiry)(1 + draw(draws, ask->op == PATH_SET_EXPIRY ? 3 : 1));
    if (ask->expiry == PATH_EXPIRES_IN)
        ask->expiry_time = 1 + draw(draws, draw(draws, 2) == 0 ? 1000 : EXPIRY_MAX_MS);
    else if (ask->expiry == PATH_EXPIRES_AT)
        ask->expiry_time = now_s + draw(draws, EXPIRY_MAX_MS / 1000);
}

static void draw_retention(struct draws *draws, unsigned client, struct path_ask *ask)
{
    unsigned place;
    uint64_t deletion;

    ask->by_blob = true;
    if (ask->op == PATH_SET_EXPIRY) {
        ask->place = draw_existing(draws, draw(draws, 12) == 0, 6);
        draw_expiry(draws, ask);
        return;
    }
    if (ask->op == PATH_UNDELETE) {
        deletion = path_kept_at(draw(draws, 10), world->commits, &place);
        if (deletion > 0 && draw(draws, 12) != 0)
            ask->place = place;
        if (draw(draws, 3) != 0)
            ask->deletion = deletion > 0 ? deletion + (draw(draws, 16) == 0) : 0;
        return;
    }
    if (ask->op == PATH_LIST_DELETED) {
        if (draw(draws, 2) == 0 && path_judge_next_page(client, ask))
            return;
        ask->place = draw_root(draws);
        ask->max = draw(draws, 3) == 0 ? 0 : 1 + draw(draws, 3);
        return;
    }
    ask->place = 0;
    ask->days = draw(draws, 4) == 0 ? 0 : 1 + draw(draws, DAYS_MAX);
}

static void draw_delete(struct draws *draws, struct path_ask *ask)
{
    ask->place = draw_existing(draws, draw(draws, 2) == 0, 2);
    ask->by_blob = draw(draws, 3) == 0;
    ask->is_recursive = !ask->by_blob && draw(draws, 2) == 0;
    draw_snapshot(draws, ask);
    ask->with_snapshots = ask->by_blob && !ask->snapshot[0] && draw(draws, 3) == 0;
}

static void draw_particular(struct draws *draws, unsigned client, struct path_ask *ask)
{
    switch ((int)ask->op) {
    case PATH_APPEND:
    case PATH_FLUSH:
        draw_update(draws, ask);
        break;
    case PATH_RENAME:
        draw_rename(draws, ask);
        break;
    case PATH_LIST:
        draw_list(draws, client, ask);
        return;
    case PATH_PUT:
        ask->by_blob = true;
        draw_content(draws, ask);
        if (draw(draws, 8) == 0)
            ask->content.length = 0;
        break;
    case PATH_DELETE:
        draw_delete(draws, ask);
        break;
    case PATH_PUT_BLOCK:
    case PATH_PUT_BLOCK_LIST:
    case PATH_GET_BLOCK_LIST:
        draw_blocks(draws, ask);
        break;
    case PATH_SNAPSHOT:
        ask->place = draw_existing(draws, false, 6);
        ask->by_blob = true;
        if (newest(ask->place) && newest(ask->place)->snapshot_count >= PATH_SNAPSHOTS_MANY)
            ask->op = PATH_READ;
        break;
    case PATH_SET_ACL:
        draw_acl(draws, ask);
        break;
    case PATH_LEASE:
        draw_lease(draws, ask);
        break;
    case PATH_GET_ACCESS:
    case PATH_SET_PROPERTIES:
        ask->place = draw_existing(draws, draw(draws, 2) == 0, 4);
        ask->by_blob = ask->op == PATH_SET_PROPERTIES && draw(draws, 2) == 0;
        break;
    case PATH_READ:
    case PATH_GET_PROPERTIES:
        ask->place = draw_existing(draws, draw(draws, 4) == 0, 2);
        ask->by_blob = draw(draws, 2) == 0;
        draw_snapshot(draws, ask);
        break;
    case PATH_SET_EXPIRY:
    case PATH_UNDELETE:
    case PATH_SET_SERVICE:
    case PATH_LIST_DELETED:
    case PATH_GET_SERVICE:
        draw_retention(draws, client, ask);
        return;
    case PATH_CREATE_FILE:
        if (path_retains() && draw(draws, 6) == 0)
            draw_expiry(draws, ask);
        break;
    default:
        break;
    }
    if (ask->op == PATH_SET_PROPERTIES || ask->op == PATH_PUT || ask->op == PATH_PUT_BLOCK_LIST ||
        ask->op == PATH_CREATE_FILE || ask->op == PATH_CREATE_DIRECTORY)
        ask->value = 1 + draw(draws, 1000);
}

/* A filesystem that is held is mostly released soon. */
static void draw_hold(struct draws *draws, struct ask *ask)
{
    struct path_ask *path = &ask->path;

    path->releases = draw(draws, 4) < (path_is_held(path->place, world->commits) ? 3u : 1u);
    ask->protect.change = path->releases ? CHANGE_RELEASE : CHANGE_HOLD;
    ask->protect.tags = 1;
}

/* Lists are mostly changed by owners. */
static void draw_user(struct draws *draws, struct ask *ask)
{
    struct path_ask *path = &ask->path;
    const struct path_node *node = newest(path->place);

    if (path->op <= PATH_DELETE_FILESYSTEM || path->op == PATH_GET_FILESYSTEM ||
        path->op == PATH_SET_SERVICE || path->op == PATH_GET_SERVICE ||
        (world->plan.faults & FAULT_WIRE) || world->plan.fronts > 0 || draw(draws, 3) != 0 ||
        path->snapshot[0])
        return;
    path->user = 1 + draw(draws, PATH_USERS);
    if (path->op == PATH_SET_ACL && node && node->acl.owner != PATH_NO_USER)
        path->user = node->acl.owner;
    ask->token = path->user;
}

void path_script_draw(unsigned client, unsigned number, struct ask *ret_ask)
{
    struct draws draws = draws_of(client, number);
    struct path_ask *path = &ret_ask->path;

    *ret_ask = (struct ask){ .op = OPS };
    path->op = (enum path_op)draw_weighted(&draws, weights, PATH_OPS);
    if (!path_retains() && is_of_retention(path->op))
        path->op = PATH_READ;
    path->place = draw_place(&draws);
    if (!path_filesystem_exists(path->place, world->commits) && draw(&draws, 8) != 0)
        path->op = PATH_CREATE_FILESYSTEM;
    if (path->op == PATH_DELETE_FILESYSTEM && (world->plan.fronts > 0 || draw(&draws, 3) != 0))
        path->op = PATH_READ;
    if (path->op == PATH_HOLD && !path_holds())
        path->op = PATH_READ;
    if (path->op <= PATH_DELETE_FILESYSTEM || path->op == PATH_GET_FILESYSTEM)
        path->place = path_root(path->place);
    if (path->op == PATH_HOLD)
        draw_hold(&draws, ret_ask);
    path->by_blob = path->op == PATH_HOLD || path->op == PATH_GET_FILESYSTEM;
    draw_particular(&draws, client, path);
    draw_leases(&draws, path);
    draw_conditions(&draws, path);
    draw_user(&draws, ret_ask);
    draw_behaviour(&draws, ret_ask, 40, 30);
}
