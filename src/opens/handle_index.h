/* Lists the handles of a share in the order of their index (open_record.h), and reads the paths of
 * their nodes. tree: the share's current state. */
#ifndef LAGRA_OPENS_HANDLE_INDEX_H
#define LAGRA_OPENS_HANDLE_INDEX_H

#include "opens/open_record.h"
#include "service/decision.h"
#include "tree/tree.h"

/* Maximum number of records read by a request, which the next one continues at a marker */
#define HANDLE_WORK_MAX   20000u
/* Maximum number of records read on a worker. */
#define HANDLE_WORKER_MAX 64u

/* Position in a listing: this handle, or the next one if it no longer exists. */
struct handle_marker {
    bool is_given;
    uint64_t node, id;
};

/* Path of a node, read one parent at a time, so not from one consistent snapshot. */
struct handle_path {
    struct bytes path; /* empty: the root directory */
    uint64_t parent;
};
/* Nodes deeper than this are not found. Requests create paths of at most 250 names, but renaming a
 * directory can make deeper ones. decision: 340 */
#define HANDLE_DEPTH_MAX 1000u
/* Memory limit for the path of one handle, with a wide margin. */
#define HANDLE_ARENA_MAX ((size_t)16 << 20)
/* Reads the current record of a node other than the root. Opens no part. Returns like
 * tree_node_read(). */
enum store_result handle_node_read(struct tree *tree, struct arena *arena, uint64_t id,
                                   struct tree_node *ret_node);
/* Reads the path of a node that must be `top` or below it. Increments *work for each record read.
 * Returns STORE_OK; STORE_NOT_FOUND: not below `top`, or deleted; errors of read_view_get(). */
enum store_result handle_path_read(struct tree *tree, struct arena *arena, uint64_t node,
                                   uint64_t top, unsigned *work, struct handle_path *ret_place);
/* Iterates over the handles of a node (of the entire share if node is NULL), starting at the
 * marker. */
struct index_iterator *handle_scan(struct tree *tree, const uint64_t *node,
                                   const struct handle_marker *from);
/* Advances to the next handle that is not stale (handle_counts()). Once *work has reached
 * HANDLE_WORK_MAX, also returns stale handles. Returns like index_iterator_next(); STORE_NOT_FOUND
 * at the end. */
enum store_result handle_next(struct tree *tree, struct index_iterator *iterator, unsigned *work,
                              struct handle *ret_handle);
/* Searches a consistent snapshot of the share for a handle below the directory. Increments *work
 * for each handle and for each node read. Returns STORE_OK; STORE_NOT_FOUND: nothing below is open;
 * errors of read_view_get(). open_below.c. */
enum store_result handle_open_below(struct tree *tree, uint64_t directory, unsigned *work);

#endif
