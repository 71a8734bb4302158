/* See found_path.h. */
#include "blob/found_path.h"

#include "blob/container_root.h"
#include "blob/immutability.h"
#include "blob/namespace.h"

/* Attempts at a page of a container whose directories are moved all the time. */
#define ATTEMPTS_MAX 4u
/* More than a path can have, with the hidden directory and the root directory. */
#define LEVELS_MAX   (2 * NAMESPACE_DEPTH_MAX + 3)

/* A path that was found. */
struct found {
    struct found *earlier;
    uint64_t id;
    struct tree_node node;
};

struct found_paths {
    struct decision *d;
    const struct container *container;
    struct tree tree;
    enum store_result failed; /* STORE_OK: nothing has */
    /* directory of the node found last: most results are followed by others of the same one */
    bool has_directory;
    uint64_t directory;
    /* its path, with a slash unless it is the root; ptr NULL if it is deleted or of another
     * container */
    struct bytes path;
    struct found *newest;
    bool has_lost; /* a node was deleted after the index was read */
};

/* Starts with the number of moves of directories so far. */
static enum store_result read_tree(struct decision *d, struct guid space, struct tree *ret_tree)
{
    tree_open_to_read(ret_tree, d, space, TREE_CASE_EXACT);
    return tree_read_state(ret_tree);
}

struct found_paths *found_paths_open(struct decision *d, const struct container *container)
{
    struct found_paths *paths = arena_alloc(d->arena, sizeof *paths);

    paths->d = d;
    paths->container = container;
    paths->failed = read_tree(d, container->space, &paths->tree);
    return paths;
}

/* Reads the record of a node. ret_expired: for a result, returns true if it has expired; or NULL.
 * Returns STORE_NOT_FOUND if it was deleted. */
static enum store_result read_node(struct found_paths *paths, uint64_t id, bool *ret_expired,
                                   struct tree_node *ret_node)
{
    struct decision *d = paths->d;
    struct decision_part *part;
    struct blob blob;
    enum tree_result found = tree_open_id(&paths->tree, id, &part, ret_node);
    enum store_result result = STORE_OK;

    if (found == TREE_FAILED)
        return paths->tree.failed;
    if (found)
        result = STORE_NOT_FOUND;
    if (!result && ret_expired)
        result = blob_read(part->before, d->arena, blob_base, &blob);
    if (!result && ret_expired)
        *ret_expired = blob_has_expired(&blob, d->now) &&
                       !container_retains(&paths->container->immutability, &blob, d->now);
    decision_leave(d, part);
    return result;
}

/* Removes the root directory from the names of a path, from the last one on. Returns false if it is
 * that of another container. */
static bool take_root(const struct found_paths *paths, const struct bytes *names, size_t *count)
{
    struct tree_name root;

    if (guid_is_zero(&paths->container->root.name))
        return true;
    root = container_root_name(paths->d->arena, paths->container, false);
    return *count > 0 && bytes_equal(names[--*count], root.given);
}

/* Finds the path of a directory. */
static enum store_result find_directory(struct found_paths *paths, uint64_t id)
{
    struct bytes names[LEVELS_MAX];
    size_t count = 0;
    struct text out;

    paths->has_directory = true;
    paths->directory = id;
    paths->path = bytes_of(NULL, 0);
    while (id != TREE_ROOT) {
        struct tree_node node;
        enum store_result result = read_node(paths, id, NULL, &node);

        if (result == STORE_NOT_FOUND || count == LEVELS_MAX)
            return STORE_OK;
        if (result)
            return result;
        if (namespace_is_hidden(node.name.given))
            return STORE_OK;
        names[count++] = node.name.given;
        id = node.parent;
    }
    if (!take_root(paths, names, &count))
        return STORE_OK;
    text_init(&out, paths->d->arena, 256);
    while (count > 0) {
        text_add(&out, names[--count]);
        text_add_char(&out, '/');
    }
    paths->path = text_bytes(&out);
    return STORE_OK;
}

enum store_result found_path(struct found_paths *paths, uint64_t id, struct bytes *ret_path)
{
    struct arena *arena = paths->d->arena;
    struct found *found = arena_alloc(arena, sizeof *found);
    bool has_expired = false;
    enum store_result result = paths->failed;

    *ret_path = bytes_of(NULL, 0);
    if (!result)
        result = read_node(paths, id, &has_expired, &found->node);
    paths->has_lost |= result == STORE_NOT_FOUND;
    if (result || has_expired)
        return result == STORE_NOT_FOUND ? STORE_OK : result;
    found->id = id;
    found->earlier = paths->newest;
    paths->newest = found;
    if (!paths->has_directory || paths->directory != found->node.parent)
        result = find_directory(paths, found->node.parent);
    if (!result && paths->path.ptr)
        *ret_path = arena_printf(arena, "%.*s%.*s", BYTES_ARG(paths->path),
                                 BYTES_ARG(found->node.name.given));
    return result;
}

/* Returns STORE_OK if the files still have their names. */
static enum store_result confirm_names(struct found_paths *paths)
{
    for (const struct found *found = paths->newest; found; found = found->earlier) {
        struct tree_node node;
        enum store_result result = read_node(paths, found->id, NULL, &node);

        if (result == STORE_NOT_FOUND ||
            (!result && (node.parent != found->node.parent ||
                         !bytes_equal(node.name.given, found->node.name.given))))
            return STORE_CONFLICT;
        if (result)
            return result;
    }
    return STORE_OK;
}

enum store_result found_paths_confirm(struct found_paths *paths)
{
    struct tree now;
    enum store_result result;

    if (paths->failed || paths->d->attempts >= ATTEMPTS_MAX)
        return paths->failed;
    result = read_tree(paths->d, paths->tree.space, &now);
    if (!result && (paths->has_lost || now.state.moves != paths->tree.state.moves))
        result = STORE_CONFLICT;
    return result ? result : confirm_names(paths);
}
