/* See found_path.h. */
#include "blob/found_path.h"

#include "blob/namespace.h"

/* Attempts at a page of a container whose directories are moved all the time. */
#define ATTEMPTS_MAX 4u
/* More than a path can have, with the hidden directory. */
#define LEVELS_MAX   (2 * NAMESPACE_DEPTH_MAX + 2)

struct found_paths {
    struct decision *d;
    struct tree tree;
    instant at; /* of the stamp, which changes when a directory is moved */
    /* directory of the node found last: most results are followed by others of the same one */
    bool has_directory;
    uint64_t directory;
    struct bytes path; /* its path, with a slash unless it is the root; ptr NULL if it is deleted */
};

static instant stamp_instant(struct found_paths *paths)
{
    struct decision *d = paths->d;
    struct decision_part *part = decision_open(d, tree_stamp_partition(paths->tree.space), NULL);
    const instant at = read_view_instant(part->before);

    decision_leave(d, part);
    return at;
}

struct found_paths *found_paths_open(struct decision *d, struct guid space)
{
    struct found_paths *paths = arena_alloc(d->arena, sizeof *paths);

    paths->d = d;
    tree_open_to_read(&paths->tree, d, space, TREE_CASE_EXACT);
    paths->at = stamp_instant(paths);
    return paths;
}

/* Reads the record of a node. With is_result, it must not have expired. Returns STORE_NOT_FOUND if
 * it was deleted. */
static enum store_result read_node(struct found_paths *paths, uint64_t id, bool is_result,
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
    if (!result && is_result)
        result = blob_read(part->before, d->arena, blob_base, &blob);
    if (!result && is_result && blob_has_expired(&blob, d->now))
        result = STORE_NOT_FOUND;
    decision_leave(d, part);
    return result;
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
        enum store_result result = read_node(paths, id, false, &node);

        if (result == STORE_NOT_FOUND || count == LEVELS_MAX)
            return STORE_OK;
        if (result)
            return result;
        if (node.parent == TREE_ROOT && namespace_is_hidden(node.name.given))
            return STORE_OK;
        names[count++] = node.name.given;
        id = node.parent;
    }
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
    struct tree_node node;
    enum store_result result = read_node(paths, id, true, &node);

    *ret_path = bytes_of(NULL, 0);
    if (result)
        return result == STORE_NOT_FOUND ? STORE_OK : result;
    if (!paths->has_directory || paths->directory != node.parent)
        result = find_directory(paths, node.parent);
    if (!result && paths->path.ptr)
        *ret_path = arena_printf(paths->d->arena, "%.*s%.*s", BYTES_ARG(paths->path),
                                 BYTES_ARG(node.name.given));
    return result;
}

enum store_result found_paths_confirm(struct found_paths *paths)
{
    return paths->d->attempts < ATTEMPTS_MAX && stamp_instant(paths) != paths->at ? STORE_CONFLICT
                                                                                  : STORE_OK;
}
