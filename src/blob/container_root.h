/* Finds paths below the root directory of a hierarchical container (struct container_root).
 *
 * The containers of an account share one tree (tree/tree.h): the root directory of each is a
 * directory in the root of that tree, with the id of the container as its name. So a rename to
 * another container is a rename in one tree: one commit, also for a directory. Every lookup starts
 * with that name; so a decision that has found a container which is deleted in the meantime does
 * not find its root directory, and is repeated.
 *
 *     name in the tree's root
 *     ID     of a container
 *     /ID    of a deleted container: retained (soft delete), or until its contents are deleted
 *
 * Deleting a container renames its root directory, which moves the stamp of the tree. So no change
 * that was decided before is committed after it, and all contents disappear in the commit that
 * deletes the container's record. If they are not retained, the task of deleted directories
 * (directory.c) deletes them one by one.
 *
 * A container in a cluster has a tree of its own, because it may move to another cell. Containers
 * that were restored from a backup, or created before trees were shared, also have their own trees.
 * Deleting such a container drops its space. Only container_contents.h and the code that restores
 * containers know the difference. decisions: 1360 to 1363 */
#ifndef LAGRA_BLOB_CONTAINER_ROOT_H
#define LAGRA_BLOB_CONTAINER_ROOT_H

#include "blob/blob.h"
#include "tree/tree.h"

/* Returns the name of the root directory in the root of the tree, in the arena. */
struct tree_name container_root_name(struct arena *arena, const struct container *container,
                                     bool is_deleted);
/* Returns the space of the tree that the account's containers share. */
struct guid container_shared_space(struct bytes account);
/* Returns true if a path can be renamed from one container to the other. */
static inline bool containers_share_tree(const struct container *a, const struct container *b)
{
    return a->hierarchical && b->hierarchical && guid_equal(&a->space, &b->space);
}

/* Finds a path below the root directory, like tree_find() or, with ret_part, tree_find_node(). The
 * place has the path without the root directory, which is its first directory. If the root
 * directory does not exist, because the container was deleted after its record was read:
 * TREE_FAILED (STORE_CONFLICT). */
enum tree_result container_find(struct tree *tree, const struct container *container,
                                const struct tree_path *path, enum tree_use use,
                                struct tree_place *ret_place, struct decision_part **ret_part);
/* Finds the id of the root directory. Returns STORE_OK, STORE_CONFLICT as above, or another
 * failure. */
enum store_result container_find_root(struct tree *tree, const struct container *container,
                                      uint64_t *ret_id);
/* Reads the protection of the container of the blob whose partition is the decision's, for tasks
 * and jobs. What it has read is a guard of the decision. Returns STORE_OK or a failure. */
enum store_result container_protection_guard(struct decision *d,
                                             struct container_immutability *ret_immutability);
/* Returns true if a place of tree_find_id() is that of the root directory, and false if that has
 * been renamed because the container was deleted. */
bool container_is_root(const struct container *container, const struct tree_place *place);
/* Returns a path as it is in the tree, with the name of the root directory. */
struct bytes container_tree_path(struct arena *arena, const struct container *container,
                                 struct bytes path);
/* Returns the path in the container of such a path. */
struct bytes container_own_path(const struct container *container, struct bytes tree_path);

#endif
