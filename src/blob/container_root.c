/* See container_root.h. */
#include "blob/container_root.h"

#include "blob/namespace.h"
#include "service/names.h"
#include "service/space_parts.h"

struct guid container_shared_space(struct bytes account)
{
    return account_space("paths", account);
}

static bool has_name(const struct container *container)
{
    return !guid_is_zero(&container->root.name);
}

/* Writes the id of a container with a slash before it if the container is deleted. */
#define ROOT_NAME_SIZE (1 + GUID_TEXT_SIZE)
static struct bytes write_name(const struct container *container, char buffer[ROOT_NAME_SIZE],
                               bool is_deleted)
{
    buffer[0] = '/';
    guid_format(&container->root.name, buffer + 1);
    return bytes_from(bytes_of(buffer, ROOT_NAME_SIZE - 1), is_deleted ? 0 : 1);
}

struct tree_name container_root_name(struct arena *arena, const struct container *container,
                                     bool is_deleted)
{
    struct bytes name = write_name(container, arena_bytes(arena, ROOT_NAME_SIZE), is_deleted);

    return (struct tree_name){ .given = name, .key = name };
}

/* ---- lookups ---- */

static struct tree_path below_root(struct arena *arena, const struct container *container,
                                   const struct tree_path *path)
{
    struct tree_name *names = arena_array(arena, path->count + 1, sizeof *names);

    names[0] = container_root_name(arena, container, false);
    if (path->count > 0)
        memcpy(&names[1], path->names, path->count * sizeof *names);
    return (struct tree_path){ names, path->count + 1 };
}

static enum tree_result find(struct tree *tree, const struct tree_path *path, enum tree_use use,
                             struct tree_place *ret_place, struct decision_part **ret_part)
{
    return ret_part ? tree_find_node(tree, path, use, ret_place, ret_part)
                    : tree_find(tree, path, use, ret_place);
}

/* Returns true if a lookup has found no root directory. */
static bool has_no_root(const struct tree_place *place, enum tree_result found)
{
    if (place->path.count == 1)
        return !found && !place->exists;
    return found == TREE_NO_PARENT && place->directories[1] == TREE_ROOT;
}

enum tree_result container_find(struct tree *tree, const struct container *container,
                                const struct tree_path *path, enum tree_use use,
                                struct tree_place *ret_place, struct decision_part **ret_part)
{
    struct tree_path full;
    enum tree_result found;

    if (!has_name(container))
        return find(tree, path, use, ret_place, ret_part);
    full = below_root(tree->d->arena, container, path);
    found = find(tree, &full, use, ret_place, ret_part);
    if (found == TREE_FAILED)
        return found;
    if (has_no_root(ret_place, found)) {
        tree->failed = STORE_CONFLICT;
        return TREE_FAILED;
    }
    ret_place->path = *path;
    ret_place->directories++;
    return found;
}

enum store_result container_find_root(struct tree *tree, const struct container *container,
                                      uint64_t *ret_id)
{
    const struct tree_path none = { NULL, 0 };
    struct tree_place place;
    enum tree_result found = container_find(tree, container, &none, TREE_TO_READ, &place, NULL);

    *ret_id = place.entry.id;
    return found ? tree->failed : STORE_OK;
}

/* Reads the id from the name of a root directory. Returns false for other names. */
static bool read_name(struct bytes name, struct guid *ret_id)
{
    return name.len > 0 && guid_parse(bytes_from(name, namespace_is_hidden(name) ? 1 : 0), ret_id);
}

/* Reads the record of a directory. */
static enum store_result read_directory(struct tree *tree, uint64_t id, struct tree_node *ret_node)
{
    const unsigned open = tree->d->part_count;
    struct decision_part *part;
    enum tree_result result = tree_open_id(tree, id, &part, ret_node);

    if (result)
        return result == TREE_FAILED ? tree->failed : STORE_CONFLICT;
    if (tree->d->part_count > open)
        decision_leave(tree->d, part);
    return STORE_OK;
}

/* Finds the name of the root directory, also of a deleted container, above the decision's
 * partition; zero if the highest directory has another name, or the partition is not in a tree.
 * The stamp of the tree is a guard, and the partition is a part: so nothing on the path has moved
 * when the decision is committed. */
static enum store_result find_root_above(struct decision *d, struct guid *ret_name)
{
    struct tree_node node;
    struct tree tree;
    enum tree_result opened;
    enum store_result result = tree_node_read(d->before, d->arena, TREE_CASE_EXACT, &node);

    *ret_name = (struct guid){ .b = { 0 } };
    if (result)
        return result == STORE_NOT_FOUND ? STORE_OK : result;
    opened = tree_open(&tree, d, d->partition.space, TREE_CASE_EXACT);
    result = opened ? tree.failed : STORE_OK;
    while (!result && node.parent != TREE_ROOT)
        result = read_directory(&tree, node.parent, &node);
    if (!result && !read_name(node.name.given, ret_name))
        *ret_name = (struct guid){ .b = { 0 } };
    return result;
}

static enum store_result guard_record(struct decision *d, const struct guid *root,
                                      struct container_immutability *ret_immutability)
{
    struct decision_part *part =
        decision_open(d, container_protection_partition(d->arena, d->partition.space, root), NULL);

    decision_keep_above(d);
    return container_protection_read(part->before, d->arena, ret_immutability);
}

/* If the root directory is the root of the tree, the name that was found is that of another
 * directory, and there is no record under it. */
enum store_result container_protection_guard(struct decision *d,
                                             struct container_immutability *ret_immutability)
{
    const struct guid none = { .b = { 0 } };
    struct guid root;
    enum store_result result = find_root_above(d, &root);

    *ret_immutability = (struct container_immutability){ .has_versions = false };
    if (!result)
        result = guard_record(d, &root, ret_immutability);
    if (result == STORE_NOT_FOUND && !guid_is_zero(&root))
        result = guard_record(d, &none, ret_immutability);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

bool container_is_root(const struct container *container, const struct tree_place *place)
{
    char buffer[ROOT_NAME_SIZE];

    if (!has_name(container))
        return tree_place_is_root(place);
    return place->path.count == 1 && place->directories[0] == TREE_ROOT &&
           bytes_equal(place->path.names[0].given, write_name(container, buffer, false));
}

struct bytes container_tree_path(struct arena *arena, const struct container *container,
                                 struct bytes path)
{
    char buffer[ROOT_NAME_SIZE];

    if (!has_name(container))
        return path;
    return arena_printf(arena, "%.*s/%.*s", BYTES_ARG(write_name(container, buffer, false)),
                        BYTES_ARG(path));
}

struct bytes container_own_path(const struct container *container, struct bytes tree_path)
{
    return has_name(container) ? bytes_from(tree_path, GUID_TEXT_SIZE) : tree_path;
}

/* ---- parts of a shared space ---- */

static bool part_of_container(const struct space_record *record, struct guid *ret_part)
{
    struct container container;
    instant deleted;

    if (!container_key_read(record->record_key, &deleted) ||
        !container_decode(record->value, &container) || !container.root.is_shared)
        return false;
    *ret_part = container.root.name;
    return true;
}

/* A node belongs to its directory, and a root directory to the container whose id is its name. */
static bool read_above(struct arena *arena, struct bytes value, struct bytes *ret_above,
                       struct guid *ret_part)
{
    struct tree_node node;

    if (!tree_node_decode(arena, TREE_CASE_EXACT, value, &node))
        return false;
    *ret_above = bytes_of(NULL, 0);
    if (node.parent != TREE_ROOT) {
        *ret_above = tree_partition(arena, (struct guid){ .b = { 0 } }, node.parent).key;
        return true;
    }
    return read_name(node.name.given, ret_part);
}

/* Keeps the entry of the root directory in the root of the tree, and a number of entries; and the
 * protection of the container. */
static bool keeps(struct arena *arena, const struct guid *part, struct bytes partition_key,
                  enum record_family family, const struct record *record, struct bytes *ret_value)
{
    const struct container of = { .root.name = *part };
    const struct guid any = { .b = { 0 } };
    char buffer[ROOT_NAME_SIZE];

    *ret_value = record->value;
    if (bytes_equal(partition_key, container_protection_partition(arena, any, part).key))
        return true;
    if (family != RECORD_INNER ||
        !bytes_equal(partition_key, tree_partition(arena, any, TREE_ROOT).key))
        return false;
    if (bytes_equal(record->key, tree_entry_key(arena, write_name(&of, buffer, false))))
        return true;
    *ret_value = tree_count_encode(arena, 1);
    return bytes_is(record->key, TREE_COUNT_KEY);
}

const struct part_functions blob_parts = { .of_container = part_of_container,
                                           .record_key = TREE_NODE_KEY,
                                           .above = read_above,
                                           .keeps = keeps };
