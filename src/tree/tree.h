/* Directories and files by name: the tree of a share, or of an account's hierarchical namespace.
 * Independent of protocols and services. README.md describes its partitions, and explains why the
 * algorithms are correct.
 *
 * All functions run inside a decision (service/decision.h): they open partitions as its parts, read
 * them, and add to their changes. They never commit, and hold no state between two attempts. The
 * service stores the other data of a file or directory (properties, contents, handles) in records
 * of the node's partition, and changes them in the same decision, in the part that is returned
 * here.
 *
 *     struct tree tree;
 *     tree_open(&tree, d, space, TREE_CASE_IGNORED)
 *     tree_find(&tree, &path, TREE_TO_CHANGE, &place)
 *     tree_create(&tree, &place, TREE_FILE, &part)     add its properties to part->changes
 *
 * A decision has at most DECISION_PARTS_MAX partitions; a rename needs five of them.
 *
 * Tree invariants, cited as "tree invariant N":
 *  (1) Every node except the root has exactly one entry, in the directory and under the name that
 *      the node's record contains; every entry's node exists. Following the directories leads to
 *      the root.
 *  (2) An operation is performed or refused on the node that its path names at some instant
 *      between its start and its commit (or its response, if it does not commit).
 *  (3) The number of a directory's entries is exact.
 *  (4) A snapshot shows the names and records that the tree had when it was created, until it is
 *      deleted. */
#ifndef LAGRA_TREE_TREE_H
#define LAGRA_TREE_TREE_H

#include "service/decision.h"
#include "tree/record.h"

enum tree_result {
    TREE_OK = 0,
    TREE_NO_PARENT,      /* a directory in the path does not exist */
    TREE_PARENT_IS_FILE, /* a directory in the path is a file */
    TREE_NOT_FOUND,
    TREE_EXISTS,       /* the name already exists */
    TREE_KINDS_DIFFER, /* a file in place of a directory, or the reverse */
    TREE_NOT_EMPTY,
    TREE_INTO_ITSELF, /* a directory would move into its own subtree */
    TREE_IS_ROOT,     /* the root cannot be created, moved or deleted */
    TREE_FAILED,      /* fail the decision with decision_fail_store(d, tree->failed) */
};

/* A tree as seen by one attempt of a decision. */
struct tree {
    struct decision *d;
    struct guid space;
    enum tree_case rule;
    struct decision_part
        /* part that guards tree invariant 2 on commit; NULL for a snapshot, or if not needed
         * yet */
        *stamp;
    struct tree_state state;
    bool state_is_unread; /* `state` must be read with tree_read_state() */
    uint64_t at;          /* generation of the snapshot being read; 0 for the current tree */
    enum store_result failed;
};

/* Opens a tree. space: exclusive to this tree; may be empty. Its stamp (tree_stamp_partition())
 * may already be a part. Returns TREE_OK, TREE_FAILED (STORE_CONFLICT if the tree is closed,
 * because the reference to it has changed). */
enum tree_result tree_open(struct tree *tree, struct decision *d, struct guid space,
                           enum tree_case rule);

/* Like tree_open(), for operations without changes, which usually need no state. Correct even if
 * the tree was closed after the reference to it was read; the operation then reads the tree in its
 * last state. Opens the stamp only for paths with several names. */
void tree_open_to_read(struct tree *tree, struct decision *d, struct guid space,
                       enum tree_case rule);
/* Reads tree->state if it has not been read yet: as of the opening of the stamp, or as of now if
 * the stamp is not open. Returns the results of tree_state_read(). */
enum store_result tree_read_state(struct tree *tree);

/* Closes a tree, in the commit that removes its name but retains its data. Uncommitted and later
 * decisions on the tree conflict. Its snapshots remain readable by their generations. */
void tree_close(struct tree *tree);
/* Reopens a closed tree with unchanged contents, and reads the clock, so that instants before
 * tree->state.reopened are known to be from before the reopening. Returns TREE_OK, TREE_FAILED. */
enum tree_result tree_reopen(struct tree *tree, struct decision *d, struct guid space,
                             enum tree_case rule);

/* Opens the tree as of a snapshot, for tree_find(), tree_open_node(), tree_list() and
 * tree_record_read(). Once the snapshot has been deleted, they return TREE_FAILED (STORE_CONFLICT),
 * and the next attempt of the decision finds it missing. */
void tree_open_at(struct tree *tree, struct decision *d, struct guid space, enum tree_case rule,
                  uint64_t generation);

/* A path in the current tree or in the snapshot. */
struct tree_place {
    struct tree_path path;
    uint64_t *directories; /* for each name, the id of its directory */
    bool exists;
    struct tree_entry entry; /* if it exists; the root has an empty name */
};
static inline bool tree_place_is_root(const struct tree_place *place)
{
    return place->path.count == 0;
}
/* Returns the id of the parent. Not for the root. */
static inline uint64_t tree_place_parent(const struct tree_place *place)
{
    return place->directories[place->path.count - 1];
}

/* TREE_TO_CHANGE keeps the directory of the last name among the decision's parts, as required by
 * tree_create() and the functions that follow it. TREE_TO_READ opens no additional parts. */
enum tree_use { TREE_TO_READ, TREE_TO_CHANGE };
/* Resolves a path. Reads one record per name, in addition to those read by tree_open(). *ret_place
 * points into `path`. Returns TREE_OK, even if the last name does not exist; TREE_NO_PARENT,
 * TREE_PARENT_IS_FILE, TREE_FAILED. */
enum tree_result tree_find(struct tree *tree, const struct tree_path *path, enum tree_use use,
                           struct tree_place *ret_place);

/* Opens the partition of the node as a guard, for access to its service's records; tree_change()
 * makes it a part with changes. The place must exist. Returns TREE_OK, TREE_FAILED. */
enum tree_result tree_open_node(struct tree *tree, const struct tree_place *place,
                                struct decision_part **ret_part);
/* Combines tree_find() and tree_open_node() with a single check of the stamp. *ret_part is NULL if
 * the last name does not exist. Returns the results of tree_find(). */
enum tree_result tree_find_node(struct tree *tree, const struct tree_path *path, enum tree_use use,
                                struct tree_place *ret_place, struct decision_part **ret_part);
/* Returns the part of the directory of a place found with TREE_TO_CHANGE. Not for the root. */
struct decision_part *tree_directory_part(struct tree *tree, const struct tree_place *place);
/* Returns the changes of a part. A guard becomes a part with changes. */
struct changes *tree_change(struct tree *tree, struct decision_part *part);
/* Opens a node by id, whatever its current name. *ret_node is not set for the root. Returns
 * TREE_OK, TREE_NOT_FOUND if it was deleted, TREE_FAILED. */
enum tree_result tree_open_id(struct tree *tree, uint64_t id, struct decision_part **ret_part,
                              struct tree_node *ret_node);
/* Like tree_open_id(), but returns a place whose path is only the node's name in its directory.
 * TREE_TO_CHANGE keeps that directory among the parts; otherwise place->entry.written is unknown.
 * Returns the results of tree_open_id(). */
enum tree_result tree_find_id(struct tree *tree, uint64_t id, enum tree_use use,
                              struct tree_place *ret_place, struct decision_part **ret_part);

/* ---- changes to places found with TREE_TO_CHANGE; they read the clock again
 * (decision_read_clock()) ---- */

/* Creates a node under an unused name, and sets place->entry. *ret_part: its partition, with
 * changes. Returns TREE_OK, TREE_EXISTS, TREE_IS_ROOT, TREE_FAILED. */
enum tree_result tree_create(struct tree *tree, struct tree_place *place, enum tree_kind kind,
                             struct decision_part **ret_part);

/* Deletes a file or an empty directory. *ret_part: its partition, with changes, to which its
 * service adds the deletion of the other records. Returns TREE_OK, TREE_NOT_FOUND, TREE_NOT_EMPTY,
 * TREE_IS_ROOT, TREE_FAILED. */
enum tree_result tree_delete(struct tree *tree, const struct tree_place *place,
                             struct decision_part **ret_part);

/* Deletes a file and creates a new one with its name. Returns the results of tree_delete(), and
 * TREE_KINDS_DIFFER for a directory. */
enum tree_result tree_replace(struct tree *tree, struct tree_place *place,
                              struct decision_part **ret_old, struct decision_part **ret_new);

enum tree_over { TREE_OVER_NOTHING, TREE_OVER_OTHERS };
struct tree_renamed {
    struct decision_part *node; /* the moved node, with changes */
    /* the replaced node, with changes, to which its service adds the deletion of the other
     * records; or NULL */
    struct decision_part *replaced;
};
/* Moves a node, with everything below it, to another name. Its id does not change. With
 * TREE_OVER_OTHERS, a file may replace a file, and a directory may replace a file or an empty
 * directory. If the two names differ only in case, the node gets the name as given in `to`. Returns
 * TREE_OK, TREE_NOT_FOUND, TREE_EXISTS, TREE_KINDS_DIFFER, TREE_NOT_EMPTY, TREE_INTO_ITSELF,
 * TREE_IS_ROOT, TREE_FAILED. */
enum tree_result tree_rename(struct tree *tree, const struct tree_place *from,
                             struct tree_place *to, enum tree_over over,
                             struct tree_renamed *ret_renamed);
/* Moves a node like tree_rename() with TREE_OVER_OTHERS, except that a replaced node moves to
 * another name, which must be unused and in a directory other than those of the two names. */
enum tree_result tree_rename_aside(struct tree *tree, const struct tree_place *from,
                                   struct tree_place *to, struct tree_place *aside,
                                   struct tree_renamed *ret_renamed);

/* ---- records of the service that snapshots retain ----
 * INNER records of a node's partition, whose keys contain no byte 0. Before changing or deleting
 * one, read it in the same decision and, if tree_record_is_retained(), call
 * tree_record_retain(). */

struct tree_record {
    struct bytes value;
    uint64_t written; /* generation */
};
/* Reads the current record, or the one in the snapshot. before: view of the node's partition.
 * Returns the results of read_view_get(). */
enum store_result tree_record_read(const struct tree *tree, struct read_view *before,
                                   struct arena *arena, struct bytes key,
                                   struct tree_record *ret_record);
/* Returns true if a snapshot contains the current record. */
static inline bool tree_record_is_retained(const struct tree *tree,
                                           const struct tree_record *record)
{
    return record->written <= tree->state.last_retained;
}
/* Retains the record for the snapshots that contain it, if any. record->value: the value for these
 * snapshots, which may differ from the current one (it may refer to a snapshot of the content). */
void tree_record_retain(struct tree *tree, struct decision_part *part, struct bytes key,
                        const struct tree_record *record);
void tree_record_put(struct tree *tree, struct decision_part *part, struct bytes key,
                     struct bytes value);
void tree_record_delete(struct tree *tree, struct decision_part *part, struct bytes key);

/* ---- snapshots of the whole tree ---- */

/* Creates a snapshot of the tree, identified by a generation. Changes only the tree's own
 * partition, regardless of the size of the tree. Returns TREE_OK, TREE_FAILED (STORE_FULL: all
 * generations have been used). */
enum tree_result tree_snapshot(struct tree *tree, uint64_t *ret_generation);
/* Deletes the snapshot. Tasks of this kind, run by tree_collect(), then delete the versions that
 * only this snapshot contained. Returns TREE_OK, TREE_FAILED. */
enum tree_result tree_snapshot_delete(struct tree *tree, uint64_t generation, uint32_t task_kind);

/* Called before a version that no snapshot contains any more is deleted. Deletes the data that the
 * version of the service's record refers to. part: part with changes. May rewrite the current
 * record (tree_record_rewrite()). */
typedef enum store_result tree_forget_fn(struct tree *tree, struct decision_part *part,
                                         struct bytes key, struct bytes value);
/* Replaces the current record without changing its generation. */
void tree_record_rewrite(struct tree *tree, struct decision_part *part, struct bytes key,
                         const struct tree_record *record);
/* Runs a task (service/deferred_tasks.h): deletes some versions, and leaves the rest to the next
 * task. d, task: from the task runner. Returns like a task_fn. */
struct deferred_task;
enum store_result tree_collect(struct decision *d, const struct deferred_task *task,
                               enum tree_case rule, tree_forget_fn *forget);

/* ---- directories ---- */

/* A page of a directory's entries, in key order. It contains entries whose key is at or after that
 * of `from` and starts with that of `prefix`; both are UTF-8. */
struct tree_page {
    struct tree_entry *entries; /* in the arena */
    size_t count;
    struct bytes next; /* key to continue with, which is also a valid name; ptr NULL at the end */
};
/* Lists a directory that exists. max: 1 or more; reads max + 1 entries. In a snapshot the page may
 * have fewer, with `next` set, if many records had to be skipped. Returns TREE_OK,
 * TREE_KINDS_DIFFER if it is a file, TREE_FAILED. */
enum tree_result tree_list(struct tree *tree, const struct tree_place *place, struct bytes prefix,
                           struct bytes from, size_t max, struct tree_page *ret_page);
/* Returns the number of entries of a directory, as of its part's view. Returns TREE_OK,
 * TREE_FAILED. */
enum tree_result tree_count(struct tree *tree, const struct decision_part *part,
                            uint64_t *ret_count);

#endif
