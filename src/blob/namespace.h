/* Names of a hierarchical container (container.hierarchical): files and directories of a tree
 * (tree/tree.h), whose partitions have the records of blobs. In a flat container, the name of a
 * blob is its partition.
 *
 * blob_locate() names the tree; the subject function finds the name, and moves the subject of the
 * decision to the partition of the file or directory. If it does not exist, blob_enter() creates
 * it, with missing parent directories, for operations that create a blob; so a decide function
 * always finds its blob's partition as the subject. base_remove() deletes the name with its blob.
 * decisions: 1220 to 1226 */
#ifndef LAGRA_BLOB_NAMESPACE_H
#define LAGRA_BLOB_NAMESPACE_H

#include "blob/blob.h"
#include "tree/tree.h"

/* rest: Naming-and-Referencing-Containers--Blobs--and-Metadata; 63 with the account and the
 * container */
#define NAMESPACE_DEPTH_MAX 61

struct posix_acl;
struct rename_source;

/* A name, as found by namespace_find(). */
struct blob_node {
    struct bytes name; /* of the request; a subject function may replace it and find another one */
    struct tree tree;
    struct tree_place place;
    enum tree_result found;              /* TREE_OK, TREE_NO_PARENT, TREE_PARENT_IS_FILE */
    struct decision_part *part;          /* of the file or directory; NULL if it does not exist */
    struct posix_acl *parent_acl;        /* set when namespace_make() has created the name */
    struct rename_source *rename_source; /* set by path_rename_find_source() */
    /* protection of the container that the rename leaves; NULL if that of the state is it */
    const struct container_immutability *leaves;
};

/* Returns true if the request is about a directory that exists. */
static inline bool blob_is_directory(struct decision *d)
{
    const struct blob_node *node = blob_state(d)->node;

    return node && node->part && node->place.entry.kind == TREE_DIRECTORY;
}

/* Returns the partition of the tree that blob_locate() names, and sets state->node. */
struct partition namespace_locate(struct decision *d, struct bytes name);
/* Returns the name without leading, trailing and double slashes. */
struct bytes namespace_normal_name(struct arena *arena, struct bytes name);
/* Parses a name, whose leading, trailing and double slashes are ignored. Empty: the root directory.
 * Returns OK, E_InvalidUri. */
enum error namespace_parse(struct arena *arena, struct bytes name, struct tree_path *ret_path);
/* Finds a name, and makes its partition the subject if it exists. Returns OK, E_InvalidUri, or an
 * error of decision_fail_store(). */
enum error namespace_find(struct decision *d, struct bytes name);
/* Creates the name and its missing parents, and makes its partition the subject. Returns OK;
 * E_PathConflict if a parent is a file; DECIDE_PREPARED; or an error of decision_fail_store(). */
enum error namespace_make(struct decision *d, enum tree_kind kind);
/* Returns a directory that is created at this time, without metadata. Until its record is first
 * written, the root directory is that of the container's creation. */
struct blob namespace_new_directory(instant created);
/* Deletes the name of the subject, whose base record is deleted in the same changes. Does nothing
 * in a flat container. Also for tasks. */
enum store_result namespace_remove(struct decision *d);
/* Determines whether a directory has entries. */
enum error namespace_is_empty(struct decision *d, bool *ret_empty);
/* Finds a place for a node in the hidden directory, under its id; ids are not used again. If the
 * directory does not exist, creates it in a commit of its own. Returns OK, DECIDE_PREPARED, or an
 * error of decision_fail_store(). */
enum error namespace_hidden_place(struct decision *d, uint64_t id, struct tree_place *ret_place);
/* Moves the file or directory of the subject to the hidden directory. Returns like
 * namespace_hidden_place(). */
enum error namespace_hide(struct decision *d);
/* Finds the hidden directory of the container. Returns STORE_OK, STORE_NOT_FOUND, or another
 * failure. */
enum store_result namespace_find_hidden(struct decision *d, struct tree *tree,
                                        struct tree_place *ret_place);
/* Returns true for a name in the root directory that no path can contain: the hidden directory,
 * which receives deleted paths (directory.c, kept_paths.h). */
static inline bool namespace_is_hidden(struct bytes name)
{
    return name.ptr[0] == '/';
}
/* Compares two names in the order of a walk: a directory, everything below it, the next name. */
int namespace_compare(struct bytes left, struct bytes right);

#endif
