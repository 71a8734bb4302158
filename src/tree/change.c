/* Create, delete, replace, rename: each is one commit over the partitions of the directories and
 * nodes listed in README.md. */
#include <assert.h>

#include "base/log.h"
#include "tree/versions.h"

/* ---- building blocks ---- */

/* Node ids consist of 23 bits of the parent's id and 40 bits of the instant. The ids in one
 * directory are therefore close together, and a listing with properties reads adjacent records.
 * Never above INT64_MAX. decision: 312 */
#define ID_TIME_BITS   40
#define ID_PARENT_BITS 23
/* Maximum number of attempts to find an unused id. Within 2^40 ticks, ids of a directory collide
 * only by chance. */
#define ID_TRIES_MAX   64

static uint64_t first_id(uint64_t parent, instant now)
{
    uint64_t spread = parent * UINT64_C(0x9E3779B97F4A7C15) >> (64 - ID_PARENT_BITS);

    return spread << ID_TIME_BITS | (now & ((UINT64_C(1) << ID_TIME_BITS) - 1));
}

/* Checks that the partition contains no records of a node, neither current nor retained for a
 * snapshot. Returns STORE_OK if it is unused, STORE_NOT_FOUND if it is in use, or another
 * failure. */
static enum store_result is_unused(struct tree *tree, const struct decision_part *part)
{
    struct tree_node node;
    enum store_result result = tree_node_read(part->before, tree->d->arena, tree->rule, &node);

    if (result == STORE_NOT_FOUND && tree->state.generation > 1)
        result = version_mark_read(part->before, tree->d->arena);
    if (!result)
        return STORE_NOT_FOUND;
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

/* Returns true if the decision already has a part for that node id; reusing the id would discard
 * that part. */
static bool is_looked_at(const struct tree *tree, uint64_t id)
{
    return decision_find_part(tree->d, tree_partition(tree->d->arena, tree->space, id)) != NULL;
}

/* Opens an unused partition for a new node. Returns NULL and sets tree->failed on failure. */
static struct decision_part *open_new(struct tree *tree, uint64_t parent, uint64_t *ret_id)
{
    uint64_t id = first_id(parent, tree->d->now);

    for (unsigned i = 0; i < ID_TRIES_MAX; i++, id++) {
        struct decision_part *part;
        enum store_result result;

        if (id == TREE_ROOT || is_looked_at(tree, id))
            continue;
        part = tree_part(tree, id);
        result = is_unused(tree, part);
        if (!result) {
            *ret_id = id;
            return part;
        }
        decision_leave(tree->d, part);
        if (result != STORE_NOT_FOUND) {
            tree_fail(tree, result);
            return NULL;
        }
    }
    tree_fail(tree, STORE_SHORTAGE);
    return NULL;
}

/* Adds `more` to a directory's number of entries. */
static enum store_result count_entries(struct tree *tree, struct decision_part *directory,
                                       int64_t delta)
{
    uint64_t count;
    enum store_result result;

    if (delta == 0)
        return STORE_OK;
    result = tree_count_read(directory->before, tree->d->arena, &count);
    if (result)
        return result;
    if (delta < 0 ? count < (uint64_t)-delta : count > (uint64_t)INT64_MAX) {
        log_line(LOG_ERROR, "a directory's entry count %llu is wrong", (unsigned long long)count);
        return STORE_CORRUPT;
    }
    tree_count_put(tree_change(tree, directory), count + (uint64_t)delta);
    return STORE_OK;
}

/* Opens a file, or a directory that must be empty, to be deleted or replaced. */
static enum tree_result open_empty(struct tree *tree, const struct tree_place *place,
                                   struct decision_part **ret_part)
{
    enum tree_result opened = tree_open_node(tree, place, ret_part);
    enum store_result result;
    uint64_t count = 0;

    if (opened)
        return opened;
    if (place->entry.kind == TREE_DIRECTORY) {
        result = tree_count_read((*ret_part)->before, tree->d->arena, &count);
        if (result)
            return tree_fail(tree, result);
    }
    return count > 0 ? TREE_NOT_EMPTY : TREE_OK;
}

/* Opens a node to be deleted or replaced, and deletes its records. */
static enum tree_result drop_node(struct tree *tree, const struct tree_place *place,
                                  struct decision_part **ret_part)
{
    enum tree_result opened = open_empty(tree, place, ret_part);

    if (!opened)
        tree_node_delete(tree_change(tree, *ret_part));
    return opened;
}

/* Retains the entry of a name, which is about to be deleted or changed to another node, for the
 * snapshots that contain it. */
static void keep_entry(struct tree *tree, const struct tree_place *place)
{
    struct arena *arena = tree->d->arena;

    version_retain(tree, tree_part(tree, tree_place_parent(place)),
                   tree_entry_key(arena, place->entry.name.key), place->entry.written,
                   tree_entry_encode(arena, &place->entry));
}

/* Writes the entry in the directory and the node's record. */
static void put_name(struct tree *tree, struct tree_place *place, uint64_t id, enum tree_kind kind,
                     struct decision_part *directory, struct decision_part *node)
{
    place->exists = true;
    place->entry = (struct tree_entry){ id, tree->state.generation, kind,
                                        place->path.names[place->path.count - 1] };
    tree_entry_put(tree_change(tree, directory), &place->entry);
    tree_node_put(tree_change(tree, node),
                  &(struct tree_node){ kind, tree_place_parent(place), place->entry.name });
}

/* ---- create, delete, replace ---- */

enum tree_result tree_create(struct tree *tree, struct tree_place *place, enum tree_kind kind,
                             struct decision_part **ret_part)
{
    struct decision_part *directory;
    enum store_result result;
    uint64_t id;

    if (tree_place_is_root(place))
        return TREE_IS_ROOT;
    if (place->exists)
        return TREE_EXISTS;
    directory = tree_part(tree, tree_place_parent(place));
    decision_read_clock(tree->d);
    *ret_part = open_new(tree, tree_place_parent(place), &id);
    if (!*ret_part)
        return TREE_FAILED;
    decision_read_clock(tree->d);
    result = count_entries(tree, directory, 1);
    if (result)
        return tree_fail(tree, result);
    put_name(tree, place, id, kind, directory, *ret_part);
    return TREE_OK;
}

enum tree_result tree_delete(struct tree *tree, const struct tree_place *place,
                             struct decision_part **ret_part)
{
    struct decision_part *directory;
    enum tree_result dropped;
    enum store_result result;

    if (tree_place_is_root(place))
        return TREE_IS_ROOT;
    if (!place->exists)
        return TREE_NOT_FOUND;
    directory = tree_part(tree, tree_place_parent(place));
    dropped = drop_node(tree, place, ret_part);
    if (dropped)
        return dropped;
    decision_read_clock(tree->d);
    result = count_entries(tree, directory, -1);
    if (result)
        return tree_fail(tree, result);
    keep_entry(tree, place);
    tree_entry_delete(tree_change(tree, directory), place->entry.name.key);
    return TREE_OK;
}

enum tree_result tree_replace(struct tree *tree, struct tree_place *place,
                              struct decision_part **ret_old, struct decision_part **ret_new)
{
    enum tree_result dropped;
    uint64_t id;

    if (tree_place_is_root(place))
        return TREE_IS_ROOT;
    if (!place->exists)
        return TREE_NOT_FOUND;
    if (place->entry.kind != TREE_FILE)
        return TREE_KINDS_DIFFER;
    dropped = drop_node(tree, place, ret_old);
    if (dropped)
        return dropped;
    decision_read_clock(tree->d);
    *ret_new = open_new(tree, tree_place_parent(place), &id);
    if (!*ret_new)
        return TREE_FAILED;
    decision_read_clock(tree->d);
    keep_entry(tree, place);
    put_name(tree, place, id, TREE_FILE, tree_part(tree, tree_place_parent(place)), *ret_new);
    return TREE_OK;
}

/* ---- rename ---- */

static bool is_same(const struct tree_place *from, const struct tree_place *to)
{
    return to->exists && to->entry.id == from->entry.id;
}

static enum tree_result may_rename(const struct tree_place *from, const struct tree_place *to,
                                   enum tree_over over)
{
    if (tree_place_is_root(from))
        return TREE_IS_ROOT;
    if (!from->exists)
        return TREE_NOT_FOUND;
    for (size_t i = 0; i < to->path.count; i++)
        if (to->directories[i] == from->entry.id)
            return TREE_INTO_ITSELF;
    if (tree_place_is_root(to))
        return TREE_IS_ROOT;
    if (!to->exists || is_same(from, to))
        return TREE_OK;
    if (over == TREE_OVER_NOTHING)
        return TREE_EXISTS;
    return to->entry.kind == TREE_FILE || from->entry.kind == TREE_DIRECTORY ? TREE_OK
                                                                             : TREE_KINDS_DIFFER;
}

/* Deletes the old name and updates the entry counts of both directories. */
static enum store_result move_entry(struct tree *tree, const struct tree_place *from,
                                    const struct tree_place *to)
{
    struct decision_part *source = tree_part(tree, tree_place_parent(from));
    struct decision_part *target = tree_part(tree, tree_place_parent(to));
    int64_t more = to->exists ? 0 : 1; /* the replaced entry is no longer counted */
    enum store_result result;

    tree_entry_delete(tree_change(tree, source), from->entry.name.key);
    if (source == target)
        return count_entries(tree, source, more - 1);
    result = count_entries(tree, source, -1);
    return result ? result : count_entries(tree, target, more);
}

static void note_move(struct tree *tree)
{
    struct tree_state state = tree->state;

    state.moves++;
    tree_state_put(tree_change(tree, tree->stamp), &state);
}

/* Moves the node that is being replaced to another name, in a directory other than those of the two
 * names. The caller overwrites or deletes the node's old entry. */
static enum tree_result set_aside(struct tree *tree, const struct tree_place *replaced,
                                  struct tree_place *aside, struct decision_part **ret_part)
{
    struct decision_part *directory = tree_part(tree, tree_place_parent(aside));
    enum tree_result opened;
    enum store_result result;

    assert(!aside->exists);
    opened = open_empty(tree, replaced, ret_part);
    if (opened)
        return opened;
    result = count_entries(tree, directory, 1);
    if (result)
        return tree_fail(tree, result);
    if (replaced->entry.kind == TREE_DIRECTORY)
        note_move(tree);
    put_name(tree, aside, replaced->entry.id, replaced->entry.kind, directory, *ret_part);
    return TREE_OK;
}

/* aside: new name of the replaced node, or NULL to delete it */
static enum tree_result rename_node(struct tree *tree, const struct tree_place *from,
                                    struct tree_place *to, enum tree_over over,
                                    struct tree_place *aside, struct tree_renamed *ret_renamed)
{
    struct tree_entry moved = from->entry;
    enum tree_result refused = may_rename(from, to, over);
    enum store_result result = STORE_OK;

    *ret_renamed = (struct tree_renamed){ NULL, NULL };
    if (refused)
        return refused;
    refused = tree_open_node(tree, from, &ret_renamed->node);
    if (!refused && to->exists && !is_same(from, to))
        refused = aside ? set_aside(tree, to, aside, &ret_renamed->replaced)
                        : drop_node(tree, to, &ret_renamed->replaced);
    if (refused)
        return refused;
    decision_read_clock(tree->d);
    keep_entry(tree, from);
    if (!is_same(from, to)) {
        if (to->exists)
            keep_entry(tree, to);
        result = move_entry(tree, from, to);
        if (moved.kind == TREE_DIRECTORY)
            note_move(tree);
    }
    if (result)
        return tree_fail(tree, result);
    put_name(tree, to, moved.id, moved.kind, tree_part(tree, tree_place_parent(to)),
             ret_renamed->node);
    return TREE_OK;
}

enum tree_result tree_rename(struct tree *tree, const struct tree_place *from,
                             struct tree_place *to, enum tree_over over,
                             struct tree_renamed *ret_renamed)
{
    return rename_node(tree, from, to, over, NULL, ret_renamed);
}

enum tree_result tree_rename_aside(struct tree *tree, const struct tree_place *from,
                                   struct tree_place *to, struct tree_place *aside,
                                   struct tree_renamed *ret_renamed)
{
    return rename_node(tree, from, to, TREE_OVER_OTHERS, aside, ret_renamed);
}
