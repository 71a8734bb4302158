/* The states of the model: names, snapshots, what is told of them. What is answered: fs_expect.c. */
#include "fs_model.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "commits.h"
#include "engine.h"
#include "moves.h"
#include "fs_away.h"
#include "fs_copy.h"
#include "fs_deleted.h"
#include "fs_opens.h"
#include "world.h"

/* In the world; set before any life begins. */
static struct fs_model {
    struct fs_state *newest;
    struct fs_state *kept; /* snapshots, the newest first */
    char keys[FS_PERMISSIONS_KNOWN + 1][40];
} * model;

void fs_model_begin(void)
{
    model = world_alloc(sizeof *model);
    model->newest = world_alloc(sizeof *model->newest);
    fs_deleted_begin();
    fs_copies_begin();
}

struct fs_state *fs_newest_state(void)
{
    return model->newest;
}

unsigned fs_cell_of(unsigned share)
{
    return model->newest->exists ? moves_cell_of(share, model->newest->since) : 0;
}

bool fs_is_here(void)
{
    return moves_are_here(0, model->newest->since);
}

struct fs_state *fs_state_left(uint64_t survivor)
{
    struct fs_state *state = model->newest;

    while (commits_is_lost(state->since, survivor) && state->older)
        state = state->older;
    return moves_are_here_at(0, state->since, survivor) ? state : NULL;
}

const struct fs_state *fs_state_at(uint64_t commit)
{
    const struct fs_state *state = model->newest;

    while (state->since > commit && state->older)
        state = state->older;
    return state;
}

/* All of them: those of commits, then those of snapshots, then those of deleted shares. */
static struct fs_state *next_of(const struct fs_state *state)
{
    if (state->older || state->is_deleted)
        return state->older;
    return !state->is_kept && model->kept ? model->kept : fs_deleted_newest();
}

static bool is_there(const struct fs_state *kept, uint64_t commit)
{
    return kept->made <= commit && (kept->gone == 0 || kept->gone > commit);
}

const struct fs_state *fs_view(const struct fs_snapshot *snapshot, const struct fs_state *state)
{
    const struct fs_state *kept = model->kept;

    if (snapshot->commit == 0)
        return state;
    while (kept && !(is_there(kept, state->since) && kept->share == state->share &&
                     strcmp(kept->date, snapshot->date) == 0))
        kept = kept->older;
    return kept;
}

const struct fs_state *fs_next_snapshot(const struct fs_state *state, uint64_t share,
                                        const struct fs_state *after)
{
    const struct fs_state *kept = after ? after->older : model->kept;

    while (kept && !(is_there(kept, state->since) && kept->share == share))
        kept = kept->older;
    return kept;
}

const char *fs_snapshot_date(uint64_t commit)
{
    const struct fs_state *kept = model->kept;

    while (kept && kept->made != commit)
        kept = kept->older;
    return kept ? kept->date : "";
}

unsigned fs_snapshot_count(void)
{
    unsigned count = 0;

    for (const struct fs_state *kept = model->kept; kept; kept = kept->older)
        count += kept->gone == 0 && kept->share == model->newest->share;
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

const char *fs_date_snapshot(uint64_t commit, const char *date)
{
    uint64_t share = model->kept->share;

    for (struct fs_state *kept = model->kept; kept; kept = kept->older) {
        if (kept->share == share && strcmp(kept->date, date) == 0)
            return "two snapshots of one date";
    }
    assert(model->kept->made == commit);
    memcpy(model->kept->date, date, strlen(date) + 1);
    return NULL;
}

void fs_keep_snapshot(const struct fs_state *state)
{
    struct fs_state *kept = world_alloc(sizeof *kept);

    *kept = *state;
    kept->older = model->kept;
    kept->is_kept = true;
    kept->made = state->since;
    model->kept = kept;
}

void fs_end_snapshot(uint64_t made, uint64_t commit)
{
    for (struct fs_state *kept = model->kept; kept; kept = kept->older) {
        if (kept->made == made)
            kept->gone = commit;
    }
}

void fs_end_snapshots_of(uint64_t share, uint64_t commit)
{
    for (struct fs_state *kept = model->kept; kept; kept = kept->older) {
        if (kept->share == share && kept->gone == 0)
            kept->gone = commit;
    }
}

/* ---- names ---- */

unsigned fs_child_of(const struct fs_state *state, unsigned parent, unsigned char name)
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
        at = state->nodes[at].is_directory ? fs_child_of(state, at, path->names[i]) : FS_NODES;
    return at;
}

unsigned fs_find(const struct fs_state *state, const struct fs_path *path)
{
    return state->exists ? find_first(state, path, path->depth) : FS_NODES;
}

unsigned fs_find_parent(const struct fs_state *state, const struct fs_path *path)
{
    struct fs_path above = *path;
    unsigned parent;

    above.depth -= above.depth > 0;
    parent = fs_find(state, &above);
    return parent < FS_NODES && state->nodes[parent].is_directory ? parent : FS_NODES;
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

bool fs_has_children(const struct fs_state *state, unsigned node)
{
    for (unsigned i = FS_ROOT + 1; i < FS_NODES; i++) {
        if (state->nodes[i].exists && state->nodes[i].parent == node)
            return true;
    }
    return false;
}

bool fs_is_below(const struct fs_state *state, unsigned node, unsigned above)
{
    while (node != above && node != FS_ROOT)
        node = state->nodes[node].parent;
    return node == above;
}

const struct fs_node *fs_node_of(const struct fs_state *state, uint64_t id)
{
    for (unsigned i = 0; i < FS_NODES; i++) {
        if (state->nodes[i].exists && state->nodes[i].id == id)
            return &state->nodes[i];
    }
    return NULL;
}

void fs_forget_opens(void)
{
    for (struct fs_state *state = model->newest; state; state = state->older) {
        if (commits_here()->has_started)
            fs_close_away(state);
        else
            fs_opens_of_before(state);
        for (unsigned i = 0; i < FS_NODES; i++)
            state->nodes[i].is_delete_pending =
                state->nodes[i].is_delete_pending && fs_is_open(state, &state->nodes[i]);
    }
}

uint64_t fs_used_bytes(const struct fs_state *state)
{
    uint64_t slots = 0;

    for (unsigned i = 0; i < FS_NODES; i++)
        slots += state->nodes[i].exists ? state->nodes[i].length : 0;
    return slots * fs_slot_bytes();
}

bool fs_is_full(const struct fs_state *state, unsigned was, unsigned length)
{
    uint64_t more = ((uint64_t)length - was) * fs_slot_bytes();

    return length > was && fs_used_bytes(state) + more > (uint64_t)state->quota << 30;
}

struct fs_state *fs_next_state(uint64_t commit)
{
    struct fs_state *state = world_alloc(sizeof *state);

    *state = *model->newest;
    state->older = model->newest;
    state->since = commit;
    state->at_ns = world->now_ns;
    state->sequence = engine_sequence();
    model->newest = state;
    return state;
}

void fs_drop_newest(void)
{
    struct fs_state *gone = model->newest;

    model->newest = gone->older;
    world_free(gone, sizeof *gone);
}

unsigned fs_slot_value(unsigned seed, unsigned from)
{
    return seed * FS_SLOTS + from;
}

void fs_slot_fill(unsigned value, unsigned char *to)
{
    size_t slot = fs_slot_bytes();

    if (value > FS_ZEROS)
        pattern_fill(value / FS_SLOTS, value % FS_SLOTS * slot, to, slot);
}

/* ---- what is told ---- */

const char *fs_tell_id(const struct fs_node *node, uint64_t file_id)
{
    for (struct fs_state *state = model->newest; state; state = next_of(state)) {
        for (unsigned i = 0; i < FS_NODES; i++) {
            struct fs_node *other = &state->nodes[i];

            if (!other->exists || (other->id != node->id && other->file_id != file_id))
                continue;
            if (other->id != node->id)
                return "the id of another";
            if (other->file_id != 0 && other->file_id != file_id)
                return "another id than was told before";
            other->file_id = file_id;
        }
    }
    return NULL;
}

const char *fs_tell_key(unsigned permission, const char *key)
{
    if (key[0] == '\0')
        return "no key of a permission";
    for (unsigned i = 1; i <= FS_PERMISSIONS_KNOWN; i++) {
        if (i != permission && strcmp(model->keys[i], key) == 0)
            return "the key of another permission";
    }
    if (model->keys[permission][0] && strcmp(model->keys[permission], key) != 0)
        return "another key than was told before";
    (void)snprintf(model->keys[permission], sizeof model->keys[0], "%s", key);
    return NULL;
}

const char *fs_known_key(unsigned permission)
{
    return model->keys[permission];
}

/* ---- ETags ---- */

/* Those of the tree, and the blobs behind them. */
#define NODES_AND_BLOBS (FS_NODES + FS_BLOBS)

static struct fs_node *node_in(struct fs_state *state, unsigned i)
{
    return i < FS_NODES ? &state->nodes[i] : &state->blobs[i - FS_NODES];
}

const char *fs_may_have(const struct fs_node *node, uint64_t etag)
{
    for (struct fs_state *state = model->newest; state; state = next_of(state)) {
        for (unsigned i = 0; i < NODES_AND_BLOBS; i++) {
            const struct fs_node *other = node_in(state, i);

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
        for (unsigned i = 0; i < NODES_AND_BLOBS; i++) {
            struct fs_node *node = node_in(state, i);

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
    fs_prune_deleted(oldest_commit);
}

void fs_roll_back(uint64_t commit)
{
    struct fs_state *survivor = model->newest;
    const struct fs_state *acknowledged = fs_state_at(commits_acknowledged());

    /* Nothing that is read after a start shows which permissions there are. */
    while (commits_is_lost(survivor->since, commit) && survivor->older)
        survivor = survivor->older;
    survivor->doubtful |=
        survivor->permissions & ~(acknowledged->permissions & ~acknowledged->doubtful);
    while (commits_is_lost(model->newest->since, commit) && model->newest->older) {
        struct fs_state *gone = model->newest;

        model->newest = gone->older;
        world_free(gone, sizeof *gone);
    }
    while (model->kept && commits_is_lost(model->kept->made, commit)) {
        struct fs_state *gone = model->kept;

        model->kept = gone->older;
        world_free(gone, sizeof *gone);
    }
    for (struct fs_state *kept = model->kept; kept; kept = kept->older)
        kept->gone = commits_is_lost(kept->gone, commit) ? 0 : kept->gone;
    fs_roll_back_deleted(commit);
}
