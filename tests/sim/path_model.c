/* See path_model.h. rest: datalakestoragegen2 */
#include "path_state.h"

#include <assert.h>
#include <string.h>

#include "commits.h"
#include "moves.h"
#include "world.h"

static struct path_model {
    struct path_state *newest;
    uint64_t nodes; /* that were created */
} * model;

void path_model_begin(void)
{
    model = world_alloc(sizeof *model);
    model->newest = world_alloc(sizeof *model->newest);
}

const struct path_state *path_state_at(uint64_t commit)
{
    const struct path_state *state = model->newest;

    while (state->since > commit)
        state = state->older;
    return state;
}

bool path_filesystem_exists(unsigned place, uint64_t commit)
{
    return path_state_at(commit)->exists[path_filesystem_of(place)];
}

bool path_is_held(unsigned place, uint64_t commit)
{
    return path_state_at(commit)->is_held[path_filesystem_of(place)];
}

/* Where files expire they would not while they are held, which the model does not know. */
bool path_holds(void)
{
    return world->plan.fronts == 0 && !path_retains();
}

const struct path_node *path_node_at(unsigned place, uint64_t commit)
{
    return path_state_at(commit)->nodes[place];
}

uint64_t path_changed_before(uint64_t from, uint64_t to)
{
    uint64_t since = path_state_at(to)->since;

    return since > from ? since : 0;
}

uint32_t path_length(const struct path_node *node)
{
    uint32_t length = 0;

    for (unsigned i = 0; i < node->part_count; i++)
        length += node->parts[i].length;
    return length;
}

bool path_has_entries(const struct path_state *state, unsigned place)
{
    for (unsigned i = 0; i < PATH_NAMES && path_child(place, i) < PATH_PLACES; i++) {
        if (state->nodes[path_child(place, i)] || state->ghosts[path_child(place, i)])
            return true;
    }
    return false;
}

unsigned path_destination(const struct path_ask *ask, const struct path_state *state)
{
    const struct path_node *node = state->nodes[ask->place];

    if (ask->is_legacy || (!path_is_root(ask->place) && !(node && node->is_directory)))
        return ask->place;
    return path_child(ask->place, path_name_of(ask->from));
}

/* ---- changes of a commit ---- */

static struct path_node *new_node(const struct path_node *like)
{
    struct path_node *node = world_alloc(sizeof *node);

    if (like)
        *node = *like;
    else
        node->id = ++model->nodes;
    return node;
}

/* was: previous node of the place, or NULL */
static void stamp(struct path_node *node, const struct path_node *was)
{
    node->stamp = world_alloc(sizeof *node->stamp);
    node->stamp->above = was ? was->stamp->etag : 0;
}

static const struct path_acl *acl_above(const struct path_state *state, unsigned place)
{
    return path_is_root(place) ? NULL : &state->nodes[path_parent(place)]->acl;
}

/* The parents first, each of which inherits its list from its own. */
static void make_parents(struct path_state *state, unsigned place, unsigned owner)
{
    struct path_node *node;

    if (path_is_root(place))
        return;
    place = path_parent(place);
    if (state->nodes[place])
        return;
    make_parents(state, place, owner);
    node = new_node(NULL);
    node->is_directory = true;
    path_inherit_acl(acl_above(state, place), owner, true, &node->acl);
    stamp(node, NULL);
    state->nodes[place] = node;
}

/* Executed by writes: a lease that has ended is forgotten. */
static void forget_lease(struct path_node *node, const struct path_moment *moment, unsigned doubts)
{
    model_lease_forget(&node->lease, model_lease_now(&node->lease, doubts & PATH_LATE,
                                                     moment->from_ns, moment->to_ns));
}

static void apply_create(struct path_state *state, const struct path_ask *ask,
                         const struct path_moment *moment, unsigned doubts)
{
    const struct path_node *was = state->nodes[ask->place], *above;
    struct path_node *node;

    make_parents(state, ask->place, ask->user);
    above = state->nodes[path_parent(ask->place)];
    node = new_node(NULL);
    node->is_directory = ask->op == PATH_CREATE_DIRECTORY;
    node->is_put = ask->op == PATH_PUT || ask->op == PATH_PUT_BLOCK_LIST;
    node->value = ask->value;
    path_inherit_acl(acl_above(state, ask->place), ask->user, node->is_directory, &node->acl);
    if (was) {
        node->id = was->id;
        if (was->is_directory || was->is_uncommitted)
            node->acl = was->acl;
        else
            node->acl.owner = was->acl.owner; /* decision: 1273 */
        node->acl_is_unknown = was->is_uncommitted
                                   ? was->acl_is_unknown
                                   : !was->is_directory && !path_acl_is_stable(above, moment);
        node->lease = was->lease;
        forget_lease(node, moment, doubts);
        memcpy(node->snapshots, was->snapshots, sizeof node->snapshots);
        node->snapshot_count = was->snapshot_count;
    }
    if (ask->expiry != PATH_NO_EXPIRY)
        node->expiry = moment->view.expiry;
    if (ask->op == PATH_PUT_BLOCK_LIST)
        path_put_block_list(node, ask, was);
    if (ask->op == PATH_PUT && ask->content.length > 0)
        node->parts[node->part_count++] = ask->content;
    stamp(node, was);
    state->nodes[ask->place] = node;
}

/* A file that did not exist has only the block then. Positions exclude blocks. */
static void apply_block(struct path_state *state, const struct path_ask *ask)
{
    const struct path_node *was = state->nodes[ask->place];
    struct path_node *node;

    make_parents(state, ask->place, ask->user);
    node = new_node(was);
    if (!was) {
        node->is_uncommitted = true;
        path_inherit_acl(acl_above(state, ask->place), ask->user, false, &node->acl);
        stamp(node, NULL);
    }
    node->blocks[ask->content.block - 1] = ask->content;
    node->staged_count = 0;
    node->is_doubtful = false;
    state->nodes[ask->place] = node;
}

static void apply_snapshot(struct path_state *state, const struct path_ask *ask)
{
    const struct path_node *was = state->nodes[ask->place];
    struct path_node *node = new_node(was);

    assert(node->snapshot_count < PATH_SNAPSHOTS_MAX);
    node->snapshots[node->snapshot_count++] =
        (struct path_snapshot){ .node = was, .time = world_alloc(sizeof(struct path_time)) };
    state->nodes[ask->place] = node;
}

static void drop_snapshot(struct path_state *state, const struct path_ask *ask)
{
    struct path_node *node = new_node(state->nodes[ask->place]);
    unsigned i = path_find_snapshot(node, ask->snapshot);

    memmove(&node->snapshots[i], &node->snapshots[i + 1],
            (--node->snapshot_count - i) * sizeof node->snapshots[0]);
    state->nodes[ask->place] = node;
}

static void stage(struct path_node *node, uint32_t position, struct path_content content)
{
    unsigned i = 0;

    while (i < node->staged_count && node->staged[i].position < position)
        i++;
    if (i == node->staged_count || node->staged[i].position != position) {
        assert(node->staged_count < PATH_STAGED_MAX);
        memmove(&node->staged[i + 1], &node->staged[i],
                (node->staged_count - i) * sizeof node->staged[0]);
        node->staged_count++;
    }
    node->staged[i] = (struct path_staged){ .position = position, .content = content };
}

/* Adds the staged bytes up to `position` to the file. keeps_rest: retains all others after its old end, overlapping ones
 * too */
static void flush(struct path_node *node, uint32_t position, bool keeps_rest)
{
    uint32_t length = path_length(node);
    const uint32_t was = length;
    unsigned kept = 0;

    for (unsigned i = 0; i < node->staged_count; i++) {
        const struct path_staged staged = node->staged[i];

        if (staged.position == length && length < position) {
            assert(node->part_count < PATH_PARTS_MAX);
            node->parts[node->part_count++] = staged.content;
            length += staged.content.length;
        } else if (staged.position >= was && keeps_rest) {
            node->staged[kept++] = staged;
        }
    }
    node->staged_count = kept;
}

static void apply_update(struct path_state *state, const struct path_ask *ask,
                         const struct path_moment *moment, unsigned doubts)
{
    const struct path_node *was = state->nodes[ask->place];
    struct path_node *node = new_node(was);

    state->nodes[ask->place] = node;
    path_act_on_lease(&node->lease, ask, doubts & PATH_LATE, moment);
    if (ask->op == PATH_APPEND && !ask->flushes) {
        stage(node, ask->position, ask->content);
        return;
    }
    if (was->is_doubtful) {
        node->is_unknown = true;
        node->is_doubtful = ask->op == PATH_FLUSH && ask->keeps_rest;
    }
    flush(node, ask->position, ask->op == PATH_FLUSH && ask->keeps_rest);
    if (ask->op == PATH_APPEND && ask->content.length > 0)
        node->parts[node->part_count++] = ask->content;
    node->is_put = false;
    stamp(node, was);
}

static void apply_rename(struct path_state *state, const struct path_ask *ask,
                         const struct path_moment *moment)
{
    const struct path_node *moved[PATH_PLACES] = { NULL };
    unsigned to = path_destination(ask, state);

    if (path_is_retained(ask, state->nodes[to]))
        path_retain(state, to, &moment->view);

    for (unsigned i = 0; i < PATH_PLACES; i++) {
        unsigned place = PATH_PLACES;

        if (state->nodes[i] && path_is_below(i, ask->from)) {
            place = path_moved(i, ask->from, to);
            assert(place < PATH_PLACES); /* the script draws no deeper ones */
            moved[place] = state->nodes[i];
            state->nodes[i] = NULL;
        }
    }
    path_drop_expired(state, to, moment->view.last);
    path_remove(state, to);
    for (unsigned i = 0; i < PATH_PLACES; i++) {
        if (moved[i])
            state->nodes[i] = moved[i];
    }
}

static void apply_change(struct path_state *state, const struct path_ask *ask,
                         const struct path_moment *moment, unsigned doubts)
{
    const struct path_node *was = state->nodes[ask->place];
    struct path_node *node;

    if (ask->op == PATH_DELETE && ask->snapshot[0]) {
        drop_snapshot(state, ask);
        return;
    }
    if (ask->op == PATH_DELETE) {
        if (path_is_retained(ask, was))
            path_retain(state, ask->place, &moment->view);
        path_remove(state, ask->place);
        return;
    }
    state->nodes[ask->place] = node = new_node(was);
    if (ask->op == PATH_SET_EXPIRY) {
        node->expiry = moment->view.expiry;
        return;
    }
    if (ask->op == PATH_SET_ACL) {
        path_change_acl(&node->acl, ask, node->is_directory);
        node->acl_is_unknown &= ask->sets_mode;
        node->has_record = true;
        return;
    }
    if (ask->op == PATH_LEASE) {
        enum lease_now now =
            model_lease_now(&node->lease, doubts & PATH_LATE, moment->from_ns, moment->to_ns);

        model_lease_act(&node->lease, now, &ask->lease, moment->from_ns, moment->to_ns);
        return;
    }
    forget_lease(node, moment, doubts);
    node->value = ask->value;
    stamp(node, was);
}

/* Makes it the newest: like the one before, until it is changed. */
static struct path_state *next_state(uint64_t commit)
{
    struct path_state *state = world_alloc(sizeof *state);

    *state = *model->newest;
    state->older = model->newest;
    state->since = commit;
    return model->newest = state;
}

void path_apply(const struct path_ask *ask, uint64_t commit, const struct path_moment *moment,
                unsigned doubts)
{
    struct path_state *state = next_state(commit);

    if (ask->op != PATH_RENAME && !ask->snapshot[0])
        path_drop_expired(state, ask->place, moment->view.last);
    switch ((int)ask->op) {
    case PATH_CREATE_FILESYSTEM:
        state->exists[path_filesystem_of(ask->place)] = true;
        make_parents(state, path_child(ask->place, 0), PATH_NO_USER);
        break;
    case PATH_HOLD:
        state->is_held[path_filesystem_of(ask->place)] = !ask->releases;
        break;
    case PATH_DELETE_FILESYSTEM:
        state->exists[path_filesystem_of(ask->place)] = false;
        path_remove(state, ask->place);
        path_forget_kept(state, ask->place);
        break;
    case PATH_CREATE_FILE:
    case PATH_CREATE_DIRECTORY:
    case PATH_PUT:
    case PATH_PUT_BLOCK_LIST:
        apply_create(state, ask, moment, doubts);
        break;
    case PATH_PUT_BLOCK:
        apply_block(state, ask);
        break;
    case PATH_SNAPSHOT:
        apply_snapshot(state, ask);
        break;
    case PATH_APPEND:
    case PATH_FLUSH:
        apply_update(state, ask, moment, doubts);
        break;
    case PATH_RENAME:
        apply_rename(state, ask, moment);
        break;
    case PATH_UNDELETE:
        path_undelete(state, ask, path_now(moment, doubts));
        break;
    case PATH_SET_SERVICE:
        state->days = ask->days;
        break;
    default:
        apply_change(state, ask, moment, doubts);
        break;
    }
}

const char *path_clear(const struct path_ask *ask, uint64_t commit, uint64_t now)
{
    struct path_state *state = next_state(commit);
    unsigned place = ask->op == PATH_RENAME ? path_destination(ask, state) : ask->place;

    if (place < PATH_PLACES && state->nodes[place] && !path_has_expired(state->nodes[place], now))
        return "deletes a file that has not expired";
    if (place < PATH_PLACES)
        path_drop_expired(state, place, now);
    return NULL;
}

unsigned path_days(uint64_t commit)
{
    return path_state_at(commit)->days;
}

const char *path_fill(const struct path_node *node, const struct reply *answer)
{
    struct path_stamp *stamp = node->stamp;

    if (stamp->etag == 0) {
        if (answer->etag <= stamp->above)
            return "an ETag that is not above the one that the name had before";
        stamp->etag = answer->etag;
        stamp->modified_s = answer->modified_s;
    }
    if (answer->modified_s == 0 || stamp->modified_s != answer->modified_s)
        return "another date";
    return stamp->etag == answer->etag ? NULL : "another ETag";
}

void path_widen(uint64_t commit, uint64_t other)
{
    for (unsigned i = 0; i < PATH_PLACES; i++) {
        const struct path_node *node = path_node_at(i, commit), *was = path_node_at(i, other);

        if (node && was && node != was)
            ending_widen(&((struct path_node *)(uintptr_t)node)->lease.ends, &was->lease.ends);
    }
}

void path_roll_back(uint64_t commit, uint64_t acknowledged)
{
    const struct path_state *safe = path_state_at(acknowledged < commit ? acknowledged : commit);

    while (model->newest->since > commit)
        model->newest = model->newest->older;
    for (unsigned i = 0; i < PATH_PLACES; i++) {
        const struct path_node *node = model->newest->nodes[i];
        struct path_node *doubtful;

        if (!node || node == safe->nodes[i] || node->is_directory || path_count_blocks(node) > 0)
            continue;
        model->newest->nodes[i] = doubtful = new_node(node);
        doubtful->is_doubtful = true;
    }
}

bool path_roll_back_cell(uint64_t survivor)
{
    while (commits_is_lost(model->newest->since, survivor) && model->newest->older)
        model->newest = model->newest->older;
    return model->newest->exists[0] && moves_are_here_at(0, model->newest->since, survivor);
}

unsigned path_cell(void)
{
    return model->newest->exists[0] ? moves_cell_of(0, model->newest->since) : 0;
}
