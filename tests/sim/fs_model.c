/* See fs_model.h. rest: File-Service-REST-API; semantics 2.2, 8.1 */
#include "fs_model.h"

#include <string.h>

#include "world.h"

/* In the world; set before any life begins. */
static struct fs_model {
    struct fs_state *newest;
    struct fs_state *kept; /* snapshots, the newest first */
} * model;

void fs_model_begin(void)
{
    model = world_alloc(sizeof *model);
    model->newest = world_alloc(sizeof *model->newest);
}

const struct fs_state *fs_state_at(uint64_t commit)
{
    const struct fs_state *state = model->newest;

    while (state->since > commit && state->older)
        state = state->older;
    return state;
}

/* All of them: those of commits, then those of snapshots. */
static struct fs_state *next_of(const struct fs_state *state)
{
    return state->older || state->is_kept ? state->older : model->kept;
}

static bool is_there(const struct fs_state *kept, uint64_t commit)
{
    return kept->made <= commit && (kept->gone == 0 || kept->gone > commit);
}

const struct fs_state *fs_view(const struct fs_ask *ask, const struct fs_state *state)
{
    const struct fs_state *kept = model->kept;

    if (ask->snapshot.commit == 0)
        return state;
    while (kept && kept->made != ask->snapshot.commit)
        kept = kept->older;
    return kept && is_there(kept, state->since) ? kept : NULL;
}

const char *fs_tell_snapshot(uint64_t commit, const char *date)
{
    for (struct fs_state *kept = model->kept; kept; kept = kept->older) {
        if (kept->made != commit && strcmp(kept->date, date) == 0)
            return "two snapshots of one date";
        if (kept->made == commit && date[0] == '\0')
            return "a snapshot without a date";
        if (kept->made == commit)
            memcpy(kept->date, date, FS_DATE_SIZE);
    }
    return NULL;
}

unsigned fs_snapshot_count(void)
{
    unsigned count = 0;

    for (const struct fs_state *kept = model->kept; kept; kept = kept->older)
        count += kept->gone == 0;
    return count;
}

bool fs_known_snapshot(unsigned random, struct fs_snapshot *ret_snapshot)
{
    unsigned known = 0;

    for (const struct fs_state *kept = model->kept; kept; kept = kept->older)
        known += kept->date[0] != '\0';
    if (known == 0)
        return false;
    random %= known;
    for (const struct fs_state *kept = model->kept; kept; kept = kept->older) {
        if (kept->date[0] != '\0' && random-- == 0) {
            ret_snapshot->commit = kept->made;
            memcpy(ret_snapshot->date, kept->date, FS_DATE_SIZE);
        }
    }
    return true;
}

static void keep_snapshot(const struct fs_state *state)
{
    struct fs_state *kept = world_alloc(sizeof *kept);

    *kept = *state;
    kept->older = model->kept;
    kept->is_kept = true;
    kept->made = state->since;
    model->kept = kept;
}

static void delete_snapshot(uint64_t made, uint64_t commit)
{
    for (struct fs_state *kept = model->kept; kept; kept = kept->older) {
        if (kept->made == made)
            kept->gone = commit;
    }
}

/* ---- names ---- */

static unsigned child_of(const struct fs_state *state, unsigned parent, unsigned char name)
{
    unsigned i = FS_ROOT + 1;

    while (i < FS_NODES && (!state->nodes[i].exists || state->nodes[i].parent != parent ||
                            state->nodes[i].name != name))
        i++;
    return i;
}

static unsigned find_first(const struct fs_state *state, const struct fs_path *path, unsigned depth)
{
    unsigned at = FS_ROOT;

    for (unsigned i = 0; i < depth && at < FS_NODES; i++)
        at = state->nodes[at].is_directory ? child_of(state, at, path->names[i]) : FS_NODES;
    return at;
}

unsigned fs_find(const struct fs_state *state, const struct fs_path *path)
{
    return state->exists ? find_first(state, path, path->depth) : FS_NODES;
}

bool fs_path_of(const struct fs_state *state, unsigned node, struct fs_path *ret_path)
{
    unsigned char names[FS_NODES];
    unsigned depth = 0;

    for (; node != FS_ROOT; node = state->nodes[node].parent)
        names[depth++] = state->nodes[node].name;
    *ret_path = (struct fs_path){ .depth = depth };
    for (unsigned i = 0; i < depth && depth <= FS_DEPTH; i++)
        ret_path->names[i] = names[depth - 1 - i];
    return depth <= FS_DEPTH;
}

unsigned fs_node_count(const struct fs_state *state)
{
    unsigned count = 0;

    for (unsigned i = 0; i < FS_NODES; i++)
        count += state->nodes[i].exists;
    return count;
}

static bool has_children(const struct fs_state *state, unsigned node)
{
    for (unsigned i = FS_ROOT + 1; i < FS_NODES; i++) {
        if (state->nodes[i].exists && state->nodes[i].parent == node)
            return true;
    }
    return false;
}

static bool is_below(const struct fs_state *state, unsigned node, unsigned above)
{
    while (node != above && node != FS_ROOT)
        node = state->nodes[node].parent;
    return node == above;
}

/* ---- what is expected ---- */

static struct fs_expected refusal(int status, const char *code)
{
    return (struct fs_expected){ .status = status, .code = code };
}

/* What stands in the way of looking the path up; code NULL: nothing does. */
static struct fs_expected look_up(const struct fs_state *state, const struct fs_path *path,
                                  unsigned *ret_node)
{
    unsigned parent = FS_ROOT;

    if (path->depth > 0)
        parent = find_first(state, path, path->depth - 1);
    if (parent == FS_NODES || !state->nodes[parent].is_directory)
        return refusal(404, "ParentNotFound");
    *ret_node = find_first(state, path, path->depth);
    return (struct fs_expected){ .code = NULL };
}

/* A directory or file that must be there, and be of that kind. */
static struct fs_expected look_for(const struct fs_state *state, const struct fs_path *path,
                                   bool is_directory, unsigned *ret_node)
{
    struct fs_expected refused = look_up(state, path, ret_node);

    if (refused.code)
        return refused;
    if (*ret_node == FS_NODES)
        return refusal(404, "ResourceNotFound");
    if (state->nodes[*ret_node].is_directory != is_directory)
        return refusal(409, "ResourceTypeMismatch");
    return refused;
}

static struct fs_expected expect_create(const struct fs_ask *ask, const struct fs_state *state)
{
    unsigned node;
    struct fs_expected refused = look_up(state, &ask->path, &node);

    if (refused.code)
        return refused;
    if (node < FS_NODES && ask->op == FS_CREATE_DIRECTORY)
        return refusal(409, "ResourceAlreadyExists");
    if (node < FS_NODES && state->nodes[node].is_directory)
        return refusal(409, "ResourceTypeMismatch");
    return (struct fs_expected){ .status = 201, .changes = true };
}

/* The destination's directory is looked for before the source. rest: Rename-File; semantics 8.1 */
static struct fs_expected expect_rename(const struct fs_ask *ask, const struct fs_state *state)
{
    bool is_directory = ask->op == FS_RENAME_DIRECTORY;
    unsigned from, to;
    struct fs_path parent = ask->path;
    struct fs_expected refused = look_up(state, &ask->path, &to);

    if (!refused.code)
        refused = look_for(state, &ask->source, is_directory, &from);
    if (refused.code)
        return refused;
    parent.depth--;
    if (is_directory && is_below(state, fs_find(state, &parent), from))
        return refusal(400, "InvalidHeaderValue");
    if (to < FS_NODES && to != from) {
        if (!ask->replaces)
            return refusal(409, "ResourceAlreadyExists");
        if (state->nodes[to].is_directory != is_directory)
            return refusal(409, "ResourceTypeMismatch");
        if (has_children(state, to))
            return refusal(409, "DirectoryNotEmpty");
    }
    return (struct fs_expected){ .status = 200, .changes = true };
}

static bool is_of_directory(enum fs_op op)
{
    return op == FS_SET_DIRECTORY_METADATA || op == FS_DELETE_DIRECTORY || op == FS_HEAD_DIRECTORY;
}

static struct fs_expected expect_of(const struct fs_ask *ask, const struct fs_state *state)
{
    unsigned node, length;
    struct fs_expected refused = look_for(state, &ask->path, is_of_directory(ask->op), &node);

    if (refused.code)
        return refused;
    length = state->nodes[node].length;
    switch ((int)ask->op) {
    case FS_PUT_RANGE:
    case FS_CLEAR_RANGE:
        return ask->to > length ? refusal(416, "InvalidRange")
                                : (struct fs_expected){ .status = 201, .changes = true };
    case FS_DELETE_DIRECTORY:
        if (has_children(state, node))
            return refusal(409, "DirectoryNotEmpty");
        /* fall through */
    case FS_DELETE_FILE:
        return (struct fs_expected){ .status = 202, .changes = true };
    case FS_GET_FILE:
        if (ask->has_range && ask->from >= length)
            return refusal(416, "InvalidRange");
        return (struct fs_expected){ .status = ask->has_range ? 206 : 200, .node = node };
    case FS_HEAD_FILE:
    case FS_HEAD_DIRECTORY:
        return (struct fs_expected){ .status = 200, .node = node };
    default:
        return (struct fs_expected){ .status = 200, .changes = true };
    }
}

struct fs_expected fs_expect(const struct fs_ask *ask, const struct fs_state *state)
{
    if (ask->op == FS_CREATE_SHARE)
        return state->exists ? refusal(409, "ShareAlreadyExists")
                             : (struct fs_expected){ .status = 201, .changes = true };
    if (!state->exists || !fs_view(ask, state))
        return refusal(404, "ShareNotFound");
    if (ask->op == FS_SNAPSHOT_SHARE || ask->op == FS_DELETE_SNAPSHOT)
        return (struct fs_expected){ .status = ask->op == FS_SNAPSHOT_SHARE ? 201 : 202,
                                     .changes = true };
    state = fs_view(ask, state);
    switch ((int)ask->op) {
    case FS_CREATE_DIRECTORY:
    case FS_CREATE_FILE:
        return expect_create(ask, state);
    case FS_RENAME_FILE:
    case FS_RENAME_DIRECTORY:
        return expect_rename(ask, state);
    default:
        return expect_of(ask, state);
    }
}

/* ---- changes ---- */

static uint64_t etag_to_pass(const struct fs_node *node)
{
    return node->etag > 0 ? node->etag : node->above;
}

static void create(const struct fs_ask *ask, struct fs_state *state)
{
    struct fs_path parent = ask->path;
    unsigned at = fs_find(state, &ask->path);
    uint64_t above = at < FS_NODES ? etag_to_pass(&state->nodes[at]) : 0;

    parent.depth--;
    for (unsigned i = FS_ROOT + 1; at == FS_NODES && i < FS_NODES; i++)
        if (!state->nodes[i].exists)
            at = i;
    if (at == FS_NODES)
        world_fail("the model has no room for another file");
    state->nodes[at] = (struct fs_node){ .exists = true,
                                         .is_directory = ask->op == FS_CREATE_DIRECTORY,
                                         .name = ask->path.names[parent.depth],
                                         .parent = fs_find(state, &parent),
                                         .id = ++state->ids,
                                         .version = state->since,
                                         .above = above,
                                         .metadata = ask->metadata,
                                         .length = ask->length };
}

static void rename_node(const struct fs_ask *ask, struct fs_state *state)
{
    unsigned from = fs_find(state, &ask->source), to = fs_find(state, &ask->path);
    struct fs_path parent = ask->path;

    parent.depth--;
    if (to < FS_NODES && to != from)
        state->nodes[to].exists = false;
    state->nodes[from].parent = fs_find(state, &parent);
    state->nodes[from].name = ask->path.names[parent.depth];
}

static void write_slots(const struct fs_ask *ask, struct fs_node *node)
{
    for (unsigned i = ask->from; i < ask->to; i++)
        node->slots[i] = ask->op == FS_PUT_RANGE ? ask->seed : 0;
}

static void set_length(const struct fs_ask *ask, struct fs_node *node)
{
    for (unsigned i = ask->length; i < FS_SLOTS; i++)
        node->slots[i] = 0;
    node->length = ask->length;
}

static void change_node(const struct fs_ask *ask, struct fs_node *node)
{
    switch ((int)ask->op) {
    case FS_PUT_RANGE:
    case FS_CLEAR_RANGE:
        write_slots(ask, node);
        break;
    case FS_SET_LENGTH:
        set_length(ask, node);
        break;
    case FS_SET_METADATA:
    case FS_SET_DIRECTORY_METADATA:
        node->metadata = ask->metadata;
        break;
    default:
        node->exists = false;
        break;
    }
}

static void write_node(struct fs_state *state, unsigned at)
{
    struct fs_node *node = &state->nodes[at];

    node->above = etag_to_pass(node);
    node->etag = 0;
    node->version = state->since;
}

void fs_apply(const struct fs_ask *ask, uint64_t commit)
{
    struct fs_state *state = world_alloc(sizeof *state);
    unsigned node;

    *state = *model->newest;
    state->older = model->newest;
    state->since = commit;
    model->newest = state;
    if (ask->op == FS_CREATE_SHARE) {
        state->exists = true;
        state->nodes[FS_ROOT] =
            (struct fs_node){ .exists = true, .is_directory = true, .version = commit };
        return;
    }
    if (ask->op == FS_SNAPSHOT_SHARE) {
        keep_snapshot(state);
        return;
    }
    if (ask->op == FS_DELETE_SNAPSHOT) {
        delete_snapshot(ask->snapshot.commit, commit);
        return;
    }
    if (ask->op == FS_CREATE_DIRECTORY || ask->op == FS_CREATE_FILE) {
        create(ask, state);
        return;
    }
    if (ask->op == FS_RENAME_FILE || ask->op == FS_RENAME_DIRECTORY) {
        node = fs_find(state, &ask->source);
        rename_node(ask, state);
    } else {
        node = fs_find(state, &ask->path);
        change_node(ask, &state->nodes[node]);
    }
    write_node(state, node);
}

const struct fs_node *fs_changed_node(const struct fs_state *state)
{
    for (unsigned i = 0; i < FS_NODES; i++) {
        if (state->nodes[i].exists && state->nodes[i].version == state->since)
            return &state->nodes[i];
    }
    return NULL;
}

/* ---- ETags ---- */

const char *fs_may_have(const struct fs_node *node, uint64_t etag)
{
    for (const struct fs_state *state = model->newest; state; state = next_of(state)) {
        for (unsigned i = 0; i < FS_NODES; i++) {
            const struct fs_node *other = &state->nodes[i];

            if (!other->exists || other->id != node->id || other->etag == 0)
                continue;
            if (other->version < node->version && other->etag >= etag)
                return "an ETag that is not above the one before";
            if (other->version > node->version && other->etag <= etag)
                return "an ETag that is not below the one after";
            if (other->version == node->version && other->etag != etag)
                return "another ETag than was told before";
        }
    }
    return etag <= node->above ? "an ETag that is not above an older one" : NULL;
}

const char *fs_fill(uint64_t version, uint64_t etag)
{
    const struct fs_node *told = NULL;
    const char *why;

    if (etag == 0)
        return "no ETag";
    for (struct fs_state *state = model->newest; state; state = next_of(state)) {
        for (unsigned i = 0; i < FS_NODES; i++) {
            struct fs_node *node = &state->nodes[i];

            if (!node->exists || node->version != version)
                continue;
            if (!told && (why = fs_may_have(node, etag)))
                return why;
            node->etag = etag;
            told = node;
        }
    }
    return NULL;
}

/* ---- old and lost ones ---- */

/* Those that were deleted by then. */
static void forget_snapshots(uint64_t oldest_commit)
{
    for (struct fs_state **link = &model->kept; *link;) {
        struct fs_state *kept = *link;

        if (kept->gone == 0 || kept->gone > oldest_commit) {
            link = &kept->older;
            continue;
        }
        *link = kept->older;
        world_free(kept, sizeof *kept);
    }
}

void fs_prune(uint64_t oldest_commit)
{
    struct fs_state *state = model->newest;

    while (state->since > oldest_commit && state->older)
        state = state->older;
    while (state->older) {
        struct fs_state *gone = state->older;

        state->older = gone->older;
        world_free(gone, sizeof *gone);
    }
    forget_snapshots(oldest_commit);
}

void fs_roll_back(uint64_t commit)
{
    while (model->newest->since > commit && model->newest->older) {
        struct fs_state *gone = model->newest;

        model->newest = gone->older;
        world_free(gone, sizeof *gone);
    }
    while (model->kept && model->kept->made > commit) {
        struct fs_state *gone = model->kept;

        model->kept = gone->older;
        world_free(gone, sizeof *gone);
    }
    for (struct fs_state *kept = model->kept; kept; kept = kept->older)
        kept->gone = kept->gone > commit ? 0 : kept->gone;
}
