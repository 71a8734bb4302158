/* Directories and files by name: the tree of a share, or of an account's hierarchical namespace. Knows
 * no protocol and no service. README.md describes its partitions, and argues why it is correct.
 *
 * All functions run inside a decision (service/decision.h): they open partitions as its parts, read
 * them, and add to their changes. They own no commit and hold nothing between two attempts. The
 * service keeps the rest of a file or directory (properties, contents, handles) in records of the node's
 * partition, and changes them in the same decision, in the part that is returned here.
 *
 *     struct tree tree;
 *     tree_open(&tree, d, space, TREE_CASE_IGNORED)
 *     tree_find(&tree, &path, TREE_TO_CHANGE, &place)
 *     tree_create(&tree, &place, TREE_FILE, &part)     its properties: into part->changes
 *
 * A decision is over at most DECISION_PARTS_MAX partitions; a rename takes five of them.
 *
 * Tree invariants, cited as "tree invariant N":
 *  (1) Every node but the root has exactly one entry, in the directory that its record names, under
 *      the name there; every entry's node is there. The directories lead to the root.
 *  (2) An operation is done, or refused, on the node that its path names at one moment between its
 *      beginning and its commit (or, without one, its answer).
 *  (3) The number of a directory's entries is exact.
 *  (4) A snapshot shows the names and records that the tree had when it was taken, until it is
 *      deleted. */
#ifndef LAGRA_TREE_TREE_H
#define LAGRA_TREE_TREE_H

#include "service/decision.h"
#include "tree/record.h"

enum tree_result {
    TREE_OK = 0,
    TREE_NO_PARENT,      /* a directory on the way is not there */
    TREE_PARENT_IS_FILE, /* or is a file */
    TREE_NOT_FOUND,
    TREE_EXISTS,       /* something has the name already */
    TREE_KINDS_DIFFER, /* a file in the place of a directory, or the other way round */
    TREE_NOT_EMPTY,
    TREE_INTO_ITSELF, /* a directory to below itself */
    TREE_IS_ROOT,     /* which cannot be created, moved or deleted */
    TREE_FAILED,      /* return decision_fail_store(d, tree->failed) */
};

/* A tree, as one attempt of a decision sees it. */
struct tree {
    struct decision *d;
    struct guid space;
    enum tree_case rule;
    struct decision_part *
        stamp; /* guards (2) when something is committed; NULL: of a snapshot, or not needed so far */
    struct tree_state state;
    bool state_is_unread; /* tree_read_state() */
    uint64_t at; /* the generation of the snapshot that is read; 0: the tree as it is now */
    enum store_result failed;
};

/* space: of this tree alone, which may still be empty. Its stamp (tree_stamp_partition()) may be a part
 * already. returns TREE_OK, TREE_FAILED (STORE_CONFLICT if the tree is closed: what named it has changed) */
enum tree_result tree_open(struct tree *tree, struct decision *d, struct guid space,
                           enum tree_case rule);

/* The same for an operation that changes nothing, which needs no state mostly, and is right in a tree that has been
 * closed since what named it was read: it is as it was then. Its stamp is opened when a path of several names is looked
 * up. */
void tree_open_to_read(struct tree *tree, struct decision *d, struct guid space,
                       enum tree_case rule);
/* Sees to it that tree->state is read, of the moment when the stamp was opened, or of now. returns as
 * tree_state_read() */
enum store_result tree_read_state(struct tree *tree);

/* Closes a tree that loses its name but is kept, in the same commit. A decision on the tree that has not been
 * committed conflicts, and so does every later one. Its snapshots stay readable by their generations. */
void tree_close(struct tree *tree);
/* Opens a closed tree again, unchanged, and reads the clock: what has an earlier instant than
 * tree->state.reopened is older than that. returns TREE_OK, TREE_FAILED */
enum tree_result tree_reopen(struct tree *tree, struct decision *d, struct guid space,
                             enum tree_case rule);

/* Opens the tree as a snapshot has it, for tree_find(), tree_open_node(), tree_list() and
 * tree_record_read(). They return TREE_FAILED (STORE_CONFLICT) once the snapshot has been deleted; the next
 * attempt then finds it missing. */
void tree_open_at(struct tree *tree, struct decision *d, struct guid space, enum tree_case rule,
                  uint64_t generation);

/* A path as it is now, or in the snapshot. */
struct tree_place {
    struct tree_path path;
    uint64_t *directories; /* one for each name: the id of the directory that it is in */
    bool exists;
    struct tree_entry entry; /* if so; of the root the name is empty */
};
static inline bool tree_place_is_root(const struct tree_place *place)
{
    return place->path.count == 0;
}
/* Not of the root. */
static inline uint64_t tree_place_parent(const struct tree_place *place)
{
    return place->directories[place->path.count - 1];
}

/* TREE_TO_CHANGE keeps the directory of the last name among the decision's parts, as tree_create() and the
 * functions below it need. TREE_TO_READ leaves no partition open that was not open before. */
enum tree_use { TREE_TO_READ, TREE_TO_CHANGE };
/* Reads one record for each name, beside what tree_open() has read. *ret_place points into `path`.
 * returns TREE_OK, also when the last name is not there; TREE_NO_PARENT, TREE_PARENT_IS_FILE,
 *         TREE_FAILED */
enum tree_result tree_find(struct tree *tree, const struct tree_path *path, enum tree_use use,
                           struct tree_place *ret_place);

/* Opens the partition of the node that was found, as a guard, for the records of its service;
 * tree_change() makes it a part with changes. The place must exist.
 * returns TREE_OK, TREE_FAILED */
enum tree_result tree_open_node(struct tree *tree, const struct tree_place *place,
                                struct decision_part **ret_part);
/* Both in one, with one last look at the stamp. *ret_part: NULL where the last name is not there.
 * returns as tree_find() */
enum tree_result tree_find_node(struct tree *tree, const struct tree_path *path, enum tree_use use,
                                struct tree_place *ret_place, struct decision_part **ret_part);
/* The part of the directory of a place that was found TREE_TO_CHANGE. Not of the root. */
struct decision_part *tree_directory_part(struct tree *tree, const struct tree_place *place);
/* The changes of a part. A guard becomes a part with changes. */
struct changes *tree_change(struct tree *tree, struct decision_part *part);
/* Opens a node by its id, whatever its name is now. *ret_node is not set for the root.
 * returns TREE_OK, TREE_NOT_FOUND: it is deleted, TREE_FAILED */
enum tree_result tree_open_id(struct tree *tree, uint64_t id, struct decision_part **ret_part,
                              struct tree_node *ret_node);
/* The same as a place, with its part: its path is its name alone, in the directory that it is in. TREE_TO_CHANGE
 * keeps that directory among the parts; else place->entry.written is not known.
 * returns as tree_open_id() */
enum tree_result tree_find_id(struct tree *tree, uint64_t id, enum tree_use use,
                              struct tree_place *ret_place, struct decision_part **ret_part);

/* ---- changes: of places found TREE_TO_CHANGE. They read the clock again (decision_read_clock()) ---- */

/* Creates a node under a name that is not taken, and sets place->entry. *ret_part: its partition, with
 * changes. returns TREE_OK, TREE_EXISTS, TREE_IS_ROOT, TREE_FAILED */
enum tree_result tree_create(struct tree *tree, struct tree_place *place, enum tree_kind kind,
                             struct decision_part **ret_part);

/* Deletes a file or an empty directory. *ret_part: its partition, with changes, where its service
 * deletes the rest.
 * returns TREE_OK, TREE_NOT_FOUND, TREE_NOT_EMPTY, TREE_IS_ROOT, TREE_FAILED */
enum tree_result tree_delete(struct tree *tree, const struct tree_place *place,
                             struct decision_part **ret_part);

/* Creates a file in the place of another, which is deleted. returns as tree_delete() and, of a
 * directory, TREE_KINDS_DIFFER */
enum tree_result tree_replace(struct tree *tree, struct tree_place *place,
                              struct decision_part **ret_old, struct decision_part **ret_new);

enum tree_over { TREE_OVER_NOTHING, TREE_OVER_OTHERS };
struct tree_renamed {
    struct decision_part *node;     /* the node that was moved, with changes */
    struct decision_part *replaced; /* with changes, where its service deletes the rest; or NULL */
};
/* Moves a node, with everything below it, to another name. It keeps its id. TREE_OVER_OTHERS: a file may
 * replace a file, a directory a file or an empty directory. The two names may differ in case alone: the node then has
 * the name as given by `to`.
 * returns TREE_OK, TREE_NOT_FOUND, TREE_EXISTS, TREE_KINDS_DIFFER, TREE_NOT_EMPTY, TREE_INTO_ITSELF,
 *         TREE_IS_ROOT, TREE_FAILED */
enum tree_result tree_rename(struct tree *tree, const struct tree_place *from,
                             struct tree_place *to, enum tree_over over,
                             struct tree_renamed *ret_renamed);

/* ---- records of the service that snapshots keep ----
 * INNER records of a node's partition, whose keys have no byte 0. Before changing or deleting
 * one, read it in the same decision and, if tree_is_kept(), call tree_record_keep(). */

struct tree_record {
    struct bytes value;
    uint64_t written; /* generation */
};
/* Reads it as it is now, or as the snapshot has it. before: of the node's partition. returns as
 * snapshot_get() */
enum store_result tree_record_read(const struct tree *tree, struct snapshot *before,
                                   struct arena *arena, struct bytes key,
                                   struct tree_record *ret_record);
/* Does a snapshot see the current record? */
static inline bool tree_is_kept(const struct tree *tree, const struct tree_record *record)
{
    return record->written <= tree->state.kept;
}
/* Keeps it for the snapshots that see it, if there are any. record->value: what they will read, which may
 * differ from what was read (it may name a snapshot of the content). */
void tree_record_keep(struct tree *tree, struct decision_part *part, struct bytes key,
                      const struct tree_record *record);
void tree_record_put(struct tree *tree, struct decision_part *part, struct bytes key,
                     struct bytes value);
void tree_record_delete(struct tree *tree, struct decision_part *part, struct bytes key);

/* ---- snapshots of the whole tree ---- */

/* Keeps the tree as it is now, under a generation. Changes only the tree's own partition, whatever the size
 * of the tree. returns TREE_OK, TREE_FAILED (STORE_FULL: all generations have been used) */
enum tree_result tree_snapshot(struct tree *tree, uint64_t *ret_generation);
/* Deletes the snapshot. Tasks of this kind, tree_collect(), collect the versions that only it saw.
 * returns TREE_OK, TREE_FAILED */
enum tree_result tree_snapshot_delete(struct tree *tree, uint64_t generation, uint32_t task_kind);

/* Called before a version that no snapshot sees any more is deleted: deletes what the service's record in it
 * refers to. part: with changes. May rewrite the current record (tree_record_rewrite()). */
typedef enum store_result tree_forget_fn(struct tree *tree, struct decision_part *part,
                                         struct bytes key, struct bytes value);
/* Replaces the current record, with the same generation. */
void tree_record_rewrite(struct tree *tree, struct decision_part *part, struct bytes key,
                         const struct tree_record *record);
/* Decides a task (service/deferred_tasks.h): collects some versions, and leaves the rest to the
 * next task. Only d, task: of the runner. returns as task_fn */
struct deferred_task;
enum store_result tree_collect(struct decision *d, const struct deferred_task *task,
                               enum tree_case rule, tree_forget_fn *forget);

/* ---- directories ---- */

/* A page of the entries of a directory, in the order of their keys: those whose key is not below `from`'s
 * and begins with `prefix`'s. Both are UTF-8. */
struct tree_page {
    struct tree_entry *entries; /* in the arena */
    size_t count;
    struct bytes next; /* where to go on: a key, which is a name too; ptr NULL: at the end */
};
/* max: 1 or more. Reads max + 1 entries. The place exists. Of a snapshot the page may have
 * fewer, with `next` set, if many records had to be skipped.
 * returns TREE_OK, TREE_KINDS_DIFFER: it is a file, TREE_FAILED */
enum tree_result tree_list(struct tree *tree, const struct tree_place *place, struct bytes prefix,
                           struct bytes from, size_t max, struct tree_page *ret_page);
/* How many entries a directory has, as its part sees it. returns TREE_OK, TREE_FAILED */
enum tree_result tree_count(struct tree *tree, const struct decision_part *part,
                            uint64_t *ret_count);

#endif
