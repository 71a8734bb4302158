/* Resolves paths. README.md, "Lookups", explains why this is correct. */
#include <assert.h>

#include "base/log.h"
#include "service/small_record.h"
#include "tree/versions.h"

enum tree_result tree_fail(struct tree *tree, enum store_result result)
{
    assert(result != STORE_OK && result != STORE_NOT_FOUND);
    tree->failed = result;
    return TREE_FAILED;
}

/* ---- opening the tree ---- */

void tree_open_to_read(struct tree *tree, struct decision *d, struct guid space,
                       enum tree_case rule)
{
    *tree = (struct tree){ .d = d, .space = space, .rule = rule, .state_is_unread = true };
    tree->stamp = decision_find_part(d, tree_stamp_partition(space));
}

static void need_stamp(struct tree *tree)
{
    if (!tree->stamp)
        tree->stamp = decision_open(tree->d, tree_stamp_partition(tree->space), NULL);
}

enum store_result tree_read_state(struct tree *tree)
{
    struct decision_part *stamp = tree->stamp;
    enum store_result result;

    if (!tree->state_is_unread)
        return STORE_OK;
    /* not as a part, because the caller may still remove the part that it opened last */
    if (!stamp)
        stamp = decision_open(tree->d, tree_stamp_partition(tree->space), NULL);
    result = tree_state_read(stamp->before, tree->d->arena, &tree->state);
    tree->state_is_unread = result != STORE_OK;
    if (!tree->stamp)
        decision_leave(tree->d, stamp);
    return result;
}

enum tree_result tree_open_any(struct tree *tree, struct decision *d, struct guid space,
                               enum tree_case rule)
{
    enum store_result result;

    tree_open_to_read(tree, d, space, rule);
    need_stamp(tree);
    result = tree_read_state(tree);
    return result ? tree_fail(tree, result) : TREE_OK;
}

enum tree_result tree_open(struct tree *tree, struct decision *d, struct guid space,
                           enum tree_case rule)
{
    enum tree_result result = tree_open_any(tree, d, space, rule);

    return !result && tree->state.closed ? tree_fail(tree, STORE_CONFLICT) : result;
}

void tree_close(struct tree *tree)
{
    tree->state.closed = true;
    tree_state_put(tree_change(tree, tree->stamp), &tree->state);
}

enum tree_result tree_reopen(struct tree *tree, struct decision *d, struct guid space,
                             enum tree_case rule)
{
    enum tree_result result = tree_open_any(tree, d, space, rule);

    if (result)
        return result;
    decision_read_clock(d);
    tree->state.closed = false;
    tree->state.reopened = d->now;
    tree_state_put(tree_change(tree, tree->stamp), &tree->state);
    return TREE_OK;
}

void tree_open_at(struct tree *tree, struct decision *d, struct guid space, enum tree_case rule,
                  uint64_t generation)
{
    assert(generation > 0);
    *tree = (struct tree){ .d = d, .space = space, .rule = rule, .at = generation };
}

static enum store_result has_not_moved(struct tree *tree, struct read_view *before)
{
    struct tree_state state;
    enum store_result result = tree_read_state(tree);

    if (!result)
        result = tree_state_read(before, tree->d->arena, &state);
    return !result && state.moves != tree->state.moves ? STORE_CONFLICT : result;
}

static enum store_result is_still_retained(struct tree *tree, struct read_view *before)
{
    struct retained_generations retained;
    enum store_result result = retained_generations_read(before, tree->d->arena, &retained);

    for (size_t i = 0; i < retained.count && !result; i++)
        if (retained.generations[i] == tree->at)
            return STORE_OK;
    return result ? result : STORE_CONFLICT;
}

/* Confirms a lookup. In the current tree, checks that no directory has moved since the stamp was
 * opened: everything read by name was then still valid at the time of the last read (tree invariant
 * 2). Without a stamp, only one name in the root was read. In a snapshot, checks that the snapshot
 * still exists: none of its versions was then deleted before it was read (tree invariant 4).
 * Returns TREE_OK, TREE_FAILED (STORE_CONFLICT). */
static enum tree_result confirm(struct tree *tree)
{
    struct decision_part *now;
    enum store_result result;

    if (tree->at == 0 && (!tree->stamp || read_view_is_newest(tree->stamp->before)))
        return TREE_OK;
    now = decision_open(tree->d, tree_stamp_partition(tree->space), NULL);
    result = tree->at ? is_still_retained(tree, now->before) : has_not_moved(tree, now->before);
    decision_leave(tree->d, now);
    return result ? tree_fail(tree, result) : TREE_OK;
}

/* ---- parts ---- */

struct decision_part *tree_part(struct tree *tree, uint64_t id)
{
    struct partition partition = tree_partition(tree->d->arena, tree->space, id);
    struct decision_part *part = decision_find_part(tree->d, partition);

    return part ? part : decision_open(tree->d, partition, NULL);
}

struct decision_part *tree_directory_part(struct tree *tree, const struct tree_place *place)
{
    return tree_part(tree, tree_place_parent(place));
}

struct changes *tree_change(struct tree *tree, struct decision_part *part)
{
    assert(tree->at == 0 && !tree->state_is_unread);
    if (!part->changes)
        part->changes = changes_new(tree->d->arena);
    return part->changes;
}

/* ---- entries and nodes that do not match ---- */

/* Called if the node's record, read after the entry that refers to it, is missing or has another
 * name. Either the node was moved or deleted in between, or the data is corrupt, which is the case
 * if the entry still refers to the node and the node's partition has not changed. Returns
 * STORE_CONFLICT, STORE_CORRUPT, or the result of tree_entry_read() or decision_confirm_part(). */
static enum store_result why_other(struct tree *tree, uint64_t directory,
                                   const struct tree_name *name, uint64_t id,
                                   const struct decision_part *node)
{
    struct decision *d = tree->d;
    struct decision_part *again =
        decision_open(d, tree_partition(d->arena, tree->space, directory), NULL);
    struct tree_entry entry;
    enum store_result result = tree_entry_read(again->before, d->arena, tree->rule, name, &entry);

    decision_leave(d, again);
    if (result == STORE_NOT_FOUND || (!result && entry.id != id))
        return STORE_CONFLICT;
    if (!result)
        result = decision_confirm_part(d, node);
    if (result)
        return result;
    log_line(LOG_ERROR, "the node %016llx and its entry in %016llx do not match",
             (unsigned long long)id, (unsigned long long)directory);
    return STORE_CORRUPT;
}

/* Called if the entry to which a node's record refers, read after it, is missing or another node's.
 * Either the record has changed since, or the data is corrupt. Returns STORE_CONFLICT,
 * STORE_CORRUPT, or the result of decision_confirm_part(). */
static enum store_result why_moved(struct tree *tree, const struct decision_part *node)
{
    enum store_result confirmed = decision_confirm_part(tree->d, node);

    if (confirmed)
        return confirmed;
    log_line(LOG_ERROR, "a node's record names a missing entry");
    return STORE_CORRUPT;
}

/* Called if the directory of the i-th name, in `part`, has no entry for it. Checks that the
 * directory itself exists. */
static enum store_result check_directory(struct tree *tree, const struct tree_place *place,
                                         size_t i, const struct decision_part *part)
{
    uint64_t id = place->directories[i];
    struct tree_node node;
    enum store_result result;

    if (id == TREE_ROOT)
        return STORE_OK;
    result = tree_node_read(part->before, tree->d->arena, tree->rule, &node);
    if (!result && node.kind == TREE_DIRECTORY)
        return STORE_OK;
    if (result && result != STORE_NOT_FOUND)
        return result;
    return why_other(tree, place->directories[i - 1], &place->path.names[i - 1], id, part);
}

/* ---- lookup ---- */

/* Reads the entry of a name in the tree's view. Returns the results of read_view_get(). */
static enum store_result find_entry(struct tree *tree, struct read_view *before,
                                    const struct tree_name *name, struct tree_entry *ret_entry)
{
    struct arena *arena = tree->d->arena;
    struct bytes value;
    enum store_result result;

    if (tree->at == 0)
        return tree_entry_read(before, arena, tree->rule, name, ret_entry);
    result = version_read(tree, before, arena, tree_entry_key(arena, name->key), &value);
    if (!result && !tree_entry_decode(arena, tree->rule, name->key, value, ret_entry))
        return record_is_unknown("an entry of a directory", value);
    return result;
}

/* A lookup, and the view in which it read the last directory. */
struct lookup {
    struct tree_place place;
    struct read_view *directory; /* NULL if the lookup ended before the last directory */
    /* `directory` is not one of the decision's parts; end_lookup() closes it */
    bool is_detached;
};

static void end_lookup(const struct lookup *lookup)
{
    if (lookup->is_detached)
        read_view_close(lookup->directory);
}

/* Reads the entry of the i-th name into place->entry, if it exists. */
static enum store_result step(struct tree *tree, struct lookup *lookup, size_t i, enum tree_use use)
{
    struct decision *d = tree->d;
    struct tree_place *place = &lookup->place;
    unsigned open = d->part_count;
    struct decision_part *part = tree_part(tree, place->directories[i]);
    enum store_result result = find_entry(tree, part->before, &place->path.names[i], &place->entry);
    bool is_last = i + 1 == place->path.count, is_new = d->part_count > open;

    place->exists = result == STORE_OK;
    if (result == STORE_NOT_FOUND)
        result = tree->at ? STORE_OK : check_directory(tree, place, i, part);
    if (is_last && !result) {
        lookup->directory = part->before;
        lookup->is_detached = is_new && use == TREE_TO_READ;
    }
    if (lookup->is_detached)
        decision_detach(d, part);
    else if (is_new && (result || !is_last))
        decision_leave(d, part);
    return result;
}

/* Like tree_find(), without the final check of the stamp. */
static enum tree_result look_up(struct tree *tree, const struct tree_path *path, enum tree_use use,
                                struct lookup *ret_lookup)
{
    struct lookup lookup = { .directory = NULL };
    struct tree_place *place = &lookup.place;
    enum tree_result missing = TREE_OK;

    *place = (struct tree_place){
        .path = *path,
        .directories = arena_array(tree->d->arena, path->count, sizeof place->directories[0]),
        .exists = true,
        .entry = { .id = TREE_ROOT, .kind = TREE_DIRECTORY },
    };
    assert(tree->at == 0 || use == TREE_TO_READ);
    if (tree->at == 0 && path->count > 1)
        need_stamp(tree);
    for (size_t i = 0; i < path->count && !missing; i++) {
        enum store_result read;

        place->directories[i] = place->entry.id;
        read = step(tree, &lookup, i, use);
        if (read)
            return tree_fail(tree, read);
        if (i + 1 < path->count && !place->exists)
            missing = TREE_NO_PARENT;
        else if (i + 1 < path->count && place->entry.kind != TREE_DIRECTORY)
            missing = TREE_PARENT_IS_FILE;
    }
    *ret_lookup = lookup;
    return missing;
}

/* Confirms a lookup that succeeded or found that a name is missing. */
static enum tree_result confirmed(struct tree *tree, enum tree_result found)
{
    enum tree_result result = found == TREE_FAILED ? TREE_FAILED : confirm(tree);

    return result ? result : found;
}

enum tree_result tree_find(struct tree *tree, const struct tree_path *path, enum tree_use use,
                           struct tree_place *ret_place)
{
    struct lookup lookup = { .directory = NULL };
    enum tree_result found = confirmed(tree, look_up(tree, path, use, &lookup));

    *ret_place = lookup.place;
    end_lookup(&lookup);
    return found;
}

static bool is_at(const struct tree_node *node, const struct tree_place *place)
{
    return node->kind == place->entry.kind && node->parent == tree_place_parent(place) &&
           bytes_equal(node->name.key, place->entry.name.key);
}

/* Checks that the node, in `part`, is at its place. directory: view in which the entry was read, or
 * NULL if unknown. If the directory has not changed since, the entry still existed when the node
 * was opened; the node was then at its place (tree invariant 1), and its record need not be
 * read. */
static enum store_result check_node(struct tree *tree, const struct tree_place *place,
                                    const struct read_view *directory,
                                    const struct decision_part *part)
{
    struct tree_node node;
    enum store_result result;

    if (directory && read_view_is_newest(directory))
        return STORE_OK;
    result = tree_node_read(part->before, tree->d->arena, tree->rule, &node);
    if (result == STORE_NOT_FOUND || (!result && !is_at(&node, place)))
        return why_other(tree, tree_place_parent(place), &place->entry.name, place->entry.id, part);
    return result;
}

static enum tree_result open_node(struct tree *tree, const struct tree_place *place,
                                  const struct read_view *directory,
                                  struct decision_part **ret_part)
{
    unsigned open = tree->d->part_count;
    struct decision_part *part = tree_part(tree, place->entry.id);
    enum store_result result = STORE_OK;

    assert(place->exists);
    *ret_part = part;
    if (tree->at == 0 && tree_place_is_root(place))
        return TREE_OK;
    if (tree->d->part_count == open) /* the node was opened before the entry was read */
        directory = NULL;
    if (tree->at == 0)
        result = check_node(tree, place, directory, part);
    return result ? tree_fail(tree, result) : confirm(tree);
}

enum tree_result tree_open_node(struct tree *tree, const struct tree_place *place,
                                struct decision_part **ret_part)
{
    return open_node(tree, place, NULL, ret_part);
}

enum tree_result tree_find_node(struct tree *tree, const struct tree_path *path, enum tree_use use,
                                struct tree_place *ret_place, struct decision_part **ret_part)
{
    struct lookup lookup = { .directory = NULL };
    enum tree_result found = look_up(tree, path, use, &lookup);

    *ret_part = NULL;
    *ret_place = lookup.place;
    if (!found && ret_place->exists)
        found = open_node(tree, ret_place, lookup.directory, ret_part); /* also checks the stamp */
    else
        found = confirmed(tree, found);
    end_lookup(&lookup);
    return found;
}

enum tree_result tree_open_id(struct tree *tree, uint64_t id, struct decision_part **ret_part,
                              struct tree_node *ret_node)
{
    struct decision_part *part = tree_part(tree, id);
    enum store_result result = STORE_OK;

    assert(tree->at == 0);
    *ret_part = part;
    *ret_node = (struct tree_node){ .kind = TREE_DIRECTORY };
    if (id != TREE_ROOT)
        result = tree_node_read(part->before, tree->d->arena, tree->rule, ret_node);
    if (result == STORE_NOT_FOUND)
        return TREE_NOT_FOUND;
    return result ? tree_fail(tree, result) : TREE_OK;
}

/* Reads the entry of a node whose place comes from its record. A commit confirms that the two are
 * from a consistent state; if they do not match, this function finds out why. */
static enum store_result read_entry_of(struct tree *tree, struct tree_place *place,
                                       const struct decision_part *node)
{
    uint64_t directory = tree_place_parent(place), id = place->entry.id;
    struct decision_part *part = tree_part(tree, directory);
    struct tree_entry entry;
    enum store_result result =
        tree_entry_read(part->before, tree->d->arena, tree->rule, &place->entry.name, &entry);

    if (result == STORE_NOT_FOUND || (!result && entry.id != id))
        return why_moved(tree, node);
    if (!result)
        place->entry = entry;
    return result;
}

enum tree_result tree_find_id(struct tree *tree, uint64_t id, enum tree_use use,
                              struct tree_place *ret_place, struct decision_part **ret_part)
{
    struct tree_place place = { .exists = true, .entry = { .id = id, .kind = TREE_DIRECTORY } };
    struct tree_name *name;
    struct tree_node node;
    enum tree_result found = tree_open_id(tree, id, ret_part, &node);
    enum store_result result = STORE_OK;

    if (found)
        return found;
    if (id != TREE_ROOT) {
        name = arena_alloc(tree->d->arena, sizeof *name);
        *name = node.name;
        place.path = (struct tree_path){ name, 1 };
        place.directories = arena_array(tree->d->arena, 1, sizeof place.directories[0]);
        place.directories[0] = node.parent;
        place.entry = (struct tree_entry){ id, 0, node.kind, node.name };
        if (use == TREE_TO_CHANGE)
            result = read_entry_of(tree, &place, *ret_part);
    }
    *ret_place = place;
    return result ? tree_fail(tree, result) : TREE_OK;
}
