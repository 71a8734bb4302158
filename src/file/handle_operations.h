/* List Handles and Force Close Handles: SMB clients' opens (file/gate.h) of a file or directory,
 * or of everything below a directory. list_handles.c, force_close.c, rest/handles.c
 *
 * Share snapshots have no recorded handles. */
#ifndef LAGRA_FILE_HANDLE_OPERATIONS_H
#define LAGRA_FILE_HANDLE_OPERATIONS_H

#include "file/file.h"
#include "file/open_record.h"
#include "service/listing.h"

/* Maximum number of records read by one request; its marker continues after them. */
#define HANDLE_WORK_MAX   20000u
/* Maximum number of records read on a worker. */
#define HANDLE_WORKER_MAX 64u

/* Position of a listing: at this handle, or after it. */
struct handle_marker {
    bool is_given;
    uint64_t node, id;
};

/* Path of a node, read parent by parent without a common snapshot. */
struct handle_place {
    struct bytes path; /* empty: the root directory */
    uint64_t parent;
};
/* Depth beyond which nodes are not found. Requests create paths of at most 250 names, but
 * renaming a directory can make deeper ones. decision: 340 */
#define HANDLE_DEPTH_MAX 1000u
/* Memory for the path of one handle, with a wide margin. */
#define HANDLE_ARENA_MAX ((size_t)16 << 20)
/* Reads the current record of a node other than the root. Adds no part. returns as
 * tree_node_read() */
enum store_result handle_node_read(struct decision *d, struct arena *arena, uint64_t id,
                                   struct tree_node *ret_node);
/* Reads the path of a node that must be `top` or below it. *work: incremented for each record
 * returns STORE_OK; STORE_NOT_FOUND: not below `top`, or deleted; as snapshot_get() */
enum store_result handle_place_read(struct decision *d, struct arena *arena, uint64_t node,
                                    uint64_t top, unsigned *work, struct handle_place *ret_place);
/* Iterates over the handles of the subject, or of the whole share if `recursive`, from the
 * marker on. */
struct index_iterator *handle_scan(struct decision *d, bool recursive,
                                   const struct handle_marker *from);
/* Advances to the next handle that is not stale (handle_counts()), or to any handle once *work
 * is HANDLE_WORK_MAX.
 * returns as index_iterator_next(); STORE_NOT_FOUND: no more */
enum store_result handle_next(struct decision *d, struct index_iterator *iterator, unsigned *work,
                              struct handle *ret_handle);
/* Searches a consistent snapshot of the share's handles for one below the directory. *work:
 * incremented for each handle, and for each node with a handle or above such a node
 * returns STORE_OK; STORE_NOT_FOUND: nothing below is open; as snapshot_get(). open_below.c */
enum store_result handle_open_below(struct decision *d, uint64_t directory, unsigned *work);
/* Fails if `recursive` is set for a file. returns OK, E_InvalidHeaderValue */
enum error handle_check_recursive(struct decision *d, bool recursive);

/* Receives the handles of List Handles, like the sinks of service/listing.h. */
struct handle_sink {
    bool full;
    void (*begin)(struct handle_sink *sink);
    /* The arguments are valid during the call only. */
    void (*add)(struct handle_sink *sink, const struct handle *handle,
                const struct handle_place *place);
};
/* rest: List-Handles */
struct list_handles_parameters {
    struct parameters base;
    bool recursive;
    struct listing listing;
    struct handle_marker from;
    struct handle_sink *sink;
};
struct list_handles_result {
    struct result base;
    struct handle_marker next;
};
OPERATION_DECLARE(list_handles);

/* rest: Force-Close-Handles */
struct force_close_handles_parameters {
    struct parameters base;
    bool recursive;
    uint64_t id; /* 0: all */
    struct handle_marker from;
};
struct force_close_handles_result {
    struct result base;
    uint64_t closed;
    struct handle_marker next;
};
OPERATION_DECLARE(force_close_handles);

#endif
