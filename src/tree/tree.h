/* Directories and files by name: the tree of a share, or of an account's hierarchical namespace. Knows
 * no protocol and no service; README.md says how it lies in partitions, and why it is right.
 *
 * All functions run inside a decision (service/decision.h): they open partitions as its parts, read
 * them, and add to their changes. They own no commit and hold nothing between two attempts. What a
 * file or directory has beside its name (properties, contents, handles) its service keeps in records of
 * the node's partition, and changes in the same decision, by the part that is returned here.
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
 *  (2) What an operation does or refuses, it does or refuses to what its path names at one moment
 *      between its beginning and its commit (or, without one, its answer).
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
    TREE_IS_ROOT,     /* which is neither made, moved nor deleted */
    TREE_FAILED,      /* return decision_fail_store(d, tree->failed) */
};

/* A tree, as one attempt of a decision sees it. */
struct tree {
    struct decision *d;
    struct guid space;
    enum tree_case rule;
    struct decision_part *stamp; /* guards (2) when something is committed; NULL: of a snapshot */
    struct tree_state state;
    uint64_t at; /* the generation of the snapshot that is read; 0: the tree as it is now */
    enum store_result failed;
};

/* space: of the tree's own; nothing has to be there yet. Its stamp (tree_stamp_partition()) may be a
 * part already. returns TREE_OK, TREE_FAILED */
enum tree_result tree_open(struct tree *tree, struct decision *d, struct guid space,
                           enum tree_case rule);

/* The tree as a snapshot of it has it: to be found, opened, listed, its records read. What follows
 * returns TREE_FAILED (STORE_CONFLICT) when the snapshot is deleted: who looks it up again knows. */
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

/* TREE_TO_CHANGE keeps the directory that the last name is in among the decision's parts: for
 * tree_create() and what is below. Without it no more partitions are open than before. */
enum tree_use { TREE_TO_READ, TREE_TO_CHANGE };
/* Reads one record for each name, and two more. `path` stays.
 * returns TREE_OK, also when the last name is not there; TREE_NO_PARENT, TREE_PARENT_IS_FILE,
 *         TREE_FAILED */
enum tree_result tree_find(struct tree *tree, const struct tree_path *path, enum tree_use use,
                           struct tree_place *ret_place);

/* Opens the partition of what was found, as a guard: for what its service keeps there. With
 * changes, tree_change(). The place must exist.
 * returns TREE_OK, TREE_FAILED */
enum tree_result tree_open_node(struct tree *tree, const struct tree_place *place,
                                struct decision_part **ret_part);
/* The part of the directory of a place that was found TREE_TO_CHANGE. Not of the root. */
struct decision_part *tree_directory_part(struct tree *tree, const struct tree_place *place);
/* The changes of a part, which is a guard no more. */
struct changes *tree_change(struct tree *tree, struct decision_part *part);
/* By its id, for what holds on to it under any name. *ret_node: not of the root.
 * returns TREE_OK, TREE_NOT_FOUND: it is deleted, TREE_FAILED */
enum tree_result tree_open_id(struct tree *tree, uint64_t id, struct decision_part **ret_part,
                              struct tree_node *ret_node);

/* ---- changes: of places found TREE_TO_CHANGE. They read the clock again (decision_read_clock()) ---- */

/* A new node under a name that nothing has; place->entry becomes it. *ret_part: its partition, with
 * changes. returns TREE_OK, TREE_EXISTS, TREE_IS_ROOT, TREE_FAILED */
enum tree_result tree_create(struct tree *tree, struct tree_place *place, enum tree_kind kind,
                             struct decision_part **ret_part);

/* Deletes a file or an empty directory. *ret_part: its partition, with changes, where its service
 * deletes the rest.
 * returns TREE_OK, TREE_NOT_FOUND, TREE_NOT_EMPTY, TREE_IS_ROOT, TREE_FAILED */
enum tree_result tree_delete(struct tree *tree, const struct tree_place *place,
                             struct decision_part **ret_part);

/* A new file takes the name of another, which is deleted. returns as tree_delete() and, of a
 * directory, TREE_KINDS_DIFFER */
enum tree_result tree_replace(struct tree *tree, struct tree_place *place,
                              struct decision_part **ret_old, struct decision_part **ret_new);

enum tree_over { TREE_OVER_NOTHING, TREE_OVER_OTHERS };
struct tree_renamed {
    struct decision_part *node;     /* that was moved, with changes */
    struct decision_part *replaced; /* with changes, where its service deletes the rest; or NULL */
};
/* Moves a node, with all that is below it, to another name. It keeps its id. TREE_OVER_OTHERS: a file
 * replaces a file, a directory an empty directory. To the same name with letters of another case: the
 * name is then as given by `to`.
 * returns TREE_OK, TREE_NOT_FOUND, TREE_EXISTS, TREE_KINDS_DIFFER, TREE_NOT_EMPTY, TREE_INTO_ITSELF,
 *         TREE_IS_ROOT, TREE_FAILED */
enum tree_result tree_rename(struct tree *tree, const struct tree_place *from,
                             struct tree_place *to, enum tree_over over,
                             struct tree_renamed *ret_renamed);

/* ---- records of the service that snapshots keep ----
 * INNER records of a node's partition, whose keys have no byte 0. Who changes or deletes one has read it
 * in the same decision, and keeps it first, if tree_is_kept(). */

struct tree_record {
    struct bytes value;
    uint64_t written; /* generation */
};
/* As the tree has it, or its snapshot. before: of the node's partition. returns as snapshot_get() */
enum store_result tree_record_read(const struct tree *tree, struct snapshot *before,
                                   struct arena *arena, struct bytes key,
                                   struct tree_record *ret_record);
/* Does a snapshot see it as it is? */
static inline bool tree_is_kept(const struct tree *tree, const struct tree_record *record)
{
    return record->written <= tree->state.kept;
}
/* Keeps it for the snapshots that see it; without any it does nothing. value: what they shall read, which
 * may differ from what was read (a snapshot of its content). */
void tree_record_keep(struct tree *tree, struct decision_part *part, struct bytes key,
                      const struct tree_record *record);
void tree_record_put(struct tree *tree, struct decision_part *part, struct bytes key,
                     struct bytes value);
void tree_record_delete(struct tree *tree, struct decision_part *part, struct bytes key);

/* ---- snapshots of the whole tree ---- */

/* Keeps the tree as it is now, under a generation: a commit of the tree's own partition, whatever is in
 * the tree. returns TREE_OK, TREE_FAILED (STORE_FULL: it has had all that can be numbered) */
enum tree_result tree_snapshot(struct tree *tree, uint64_t *ret_generation);
/* Ends that. What it alone saw is collected by tasks of this kind, tree_collect().
 * returns TREE_OK, TREE_FAILED */
enum tree_result tree_snapshot_delete(struct tree *tree, uint64_t generation, uint32_t task_kind);

/* A record of the service that no snapshot sees any more is about to be deleted: what it refers to
 * goes too. part: with changes. May rewrite the record that is there now (tree_record_rewrite()). */
typedef enum store_result tree_forget_fn(struct tree *tree, struct decision_part *part,
                                         struct bytes key, struct bytes value);
/* In the place of a record as it is now, of the same generation. */
void tree_record_rewrite(struct tree *tree, struct decision_part *part, struct bytes key,
                         const struct tree_record *record);
/* Decides a task (service/deferred_tasks.h): collects some versions, and leaves the rest to the
 * next task. Only d, task: of the runner. returns as task_fn */
struct deferred_task;
enum store_result tree_collect(struct decision *d, const struct deferred_task *task,
                               enum tree_case rule, tree_forget_fn *forget);

/* ---- directories ---- */

/* A page of the entries of a directory, in the order of their keys, from the first whose name is at or
 * after `from`, of those whose names begin with `prefix`: by keys, both; UTF-8. */
struct tree_page {
    struct tree_entry *entries; /* in the arena */
    size_t count;
    struct bytes next; /* where to go on: a key, which is a name too; ptr NULL: at the end */
};
/* max: 1 or more. Reads max + 1 entries. The place exists. Of a snapshot it may have fewer, with `next`
 * set, when what lies between is much.
 * returns TREE_OK, TREE_KINDS_DIFFER: it is a file, TREE_FAILED */
enum tree_result tree_list(struct tree *tree, const struct tree_place *place, struct bytes prefix,
                           struct bytes from, size_t max, struct tree_page *ret_page);
/* How many entries a directory has, as its part sees it. returns TREE_OK, TREE_FAILED */
enum tree_result tree_count(struct tree *tree, const struct decision_part *part,
                            uint64_t *ret_count);

#endif
