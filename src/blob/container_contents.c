/* See container_contents.h. */
#include "blob/container_contents.h"

#include "blob/access_control.h"
#include "blob/container_root.h"
#include "blob/immutability.h"
#include "blob/namespace.h"
#include "blob/path_operations.h"

/* Converts a result of the tree for a root directory whose container's record is a part of the
 * decision. They do not match if the container has changed since. */
static enum store_result store_result_of(struct decision *d, const struct tree *tree,
                                         enum tree_result result)
{
    enum store_result confirmed;

    if (!result || result == TREE_FAILED)
        return result ? tree->failed : STORE_OK;
    confirmed = decision_confirm(d);
    return confirmed ? confirmed : STORE_CORRUPT;
}

/* Finds a name in the root of the tree. */
static enum tree_result find_name(struct decision *d, struct tree *tree,
                                  const struct container *container, bool is_deleted,
                                  struct tree_place *ret_place)
{
    struct tree_name *name = arena_alloc(d->arena, sizeof *name);
    const struct tree_path path = { name, 1 };

    *name = container_root_name(d->arena, container, is_deleted);
    return tree_find(tree, &path, TREE_TO_CHANGE, ret_place);
}

static void put_root(struct decision *d, const struct container *container, struct changes *changes)
{
    struct blob root = namespace_new_directory(d->now);
    struct posix_acl acl;

    (void)posix_acl_decode(bytes_of(NULL, 0), true, &acl);
    if (container->owner.len > 0)
        acl.owner = acl.group = container->owner;
    access_control_put(d, &acl, false, &root);
    blob_write(changes, d->arena, &root);
}

enum store_result container_create_root(struct decision *d, const struct container *container)
{
    struct decision_part *part;
    struct tree_place place;
    struct tree tree;
    enum tree_result result;

    if (guid_is_zero(&container->root.name))
        return STORE_OK;
    result = tree_open(&tree, d, container->space, TREE_CASE_EXACT);
    if (!result)
        result = find_name(d, &tree, container, false, &place);
    if (!result)
        result = tree_create(&tree, &place, TREE_DIRECTORY, &part);
    if (!result)
        put_root(d, container, part->changes);
    return store_result_of(d, &tree, result);
}

/* Renames the root directory when the container is deleted or restored. */
static enum store_result rename_root(struct decision *d, const struct container *container,
                                     bool becomes_deleted, struct tree_renamed *ret_renamed)
{
    struct tree_place from, to;
    struct tree tree;
    enum tree_result result = tree_open(&tree, d, container->space, TREE_CASE_EXACT);

    if (!result)
        result = find_name(d, &tree, container, !becomes_deleted, &from);
    if (!result)
        result = find_name(d, &tree, container, becomes_deleted, &to);
    if (!result)
        result = tree_rename(&tree, &from, &to, TREE_OVER_NOTHING, ret_renamed);
    return store_result_of(d, &tree, result);
}

/* Deletes the record of the protection in a space that other containers share. */
static void drop_protection(struct decision *d, const struct container *container)
{
    const struct partition at =
        container_protection_partition(d->arena, container->space, &container->root.name);

    if (container_has_immutability(&container->immutability))
        container_protection_delete(decision_open(d, at, changes_new(d->arena))->changes);
}

static void collect(struct decision *d, struct changes *root)
{
    changes_defer(root, d->now, TASK_DELETE_DIRECTORY, bytes_of(NULL, 0));
}

enum store_result container_drop(struct decision *d, const struct container *container,
                                 bool is_retained)
{
    struct tree_renamed renamed;
    enum store_result result;

    if (!container->root.is_shared) {
        if (!is_retained)
            changes_drop_space(d->changes, container->space);
        return STORE_OK;
    }
    result = rename_root(d, container, true, &renamed);
    if (result || is_retained)
        return result;
    collect(d, renamed.node->changes);
    drop_protection(d, container);
    return STORE_OK;
}

enum store_result container_restore(struct decision *d, const struct container *container)
{
    struct tree_renamed renamed;

    return container->root.is_shared ? rename_root(d, container, false, &renamed) : STORE_OK;
}

enum store_result container_drop_retained(struct decision *d, const struct container *container)
{
    struct decision_part *part;
    struct tree_place place;
    struct tree tree;
    enum tree_result result;

    if (!container->root.is_shared) {
        changes_drop_space(d->changes, container->space);
        return STORE_OK;
    }
    result = tree_open(&tree, d, container->space, TREE_CASE_EXACT);
    if (!result)
        result = find_name(d, &tree, container, true, &place);
    if (!result)
        result = place.exists ? tree_open_node(&tree, &place, &part) : TREE_NOT_FOUND;
    if (!result) {
        collect(d, tree_change(&tree, part));
        drop_protection(d, container);
    }
    return store_result_of(d, &tree, result);
}
