/* List Handles and Force Close Handles: the opens of SMB clients of a file or directory (file/gate.h), or of
 * everything below a directory. list_handles.c, force_close.c, rest/handles.c
 *
 * A snapshot of the share has no handles. */
#ifndef LAGRA_FILE_HANDLE_OPERATIONS_H
#define LAGRA_FILE_HANDLE_OPERATIONS_H

#include "file/file.h"
#include "file/open_record.h"
#include "service/listing.h"

/* The most records that one request reads; its marker continues behind them. */
#define HANDLE_WORK_MAX   20000u
/* More are not looked at on a worker. */
#define HANDLE_WORKER_MAX 64u

/* Where a list continues: at this handle, or after it. */
struct handle_marker {
    bool is_given;
    uint64_t node, id;
};

/* The path of a node, as it was while its parents were read, one after the other. */
struct handle_place {
    struct bytes path; /* empty: the root directory */
    uint64_t parent;
};
/* No request creates a path of more than 250 names, but renaming a directory may. Nodes deeper than this are
 * not found. decision: 340 */
#define HANDLE_DEPTH_MAX 1000u
/* The memory for the place of one handle, with much to spare. */
#define HANDLE_ARENA_MAX ((size_t)16 << 20)
/* The record of a node of the share, not the root, as it is now; no part is added. returns as tree_node_read() */
enum store_result handle_node_read(struct decision *d, struct arena *arena, uint64_t id,
                                   struct tree_node *ret_node);
/* top: the directory or file that the node must be, or be below. *work: grows by each record.
 * returns STORE_OK; STORE_NOT_FOUND: it is not, or it is gone; as snapshot_get() */
enum store_result handle_place_read(struct decision *d, struct arena *arena, uint64_t node,
                                    uint64_t top, unsigned *work, struct handle_place *ret_place);
/* The handles of the subject, or with `recursive` all of the share, from the marker on. */
struct index_iterator *handle_scan(struct decision *d, bool recursive,
                                   const struct handle_marker *from);
/* Advances to the next handle that counts (handle_counts()), or to any once *work is HANDLE_WORK_MAX.
 * returns as index_iterator_next(); STORE_NOT_FOUND: no more */
enum store_result handle_next(struct decision *d, struct index_iterator *iterator, unsigned *work,
                              struct handle *ret_handle);
/* Searches the handles of the share, in their state at the call, for one below the directory. *work: grows by one for each
 * handle, and by one for each node that has a handle, or is above such a node.
 * returns STORE_OK; STORE_NOT_FOUND: nothing below is open; as snapshot_get(). open_below.c */
enum store_result handle_open_below(struct decision *d, uint64_t directory, unsigned *work);
/* `recursive` is for directories alone. returns OK, E_InvalidHeaderValue */
enum error handle_check_recursive(struct decision *d, bool recursive);

/* Where List Handles puts what it finds: as the sinks of service/listing.h. */
struct handle_sink {
    bool full;
    void (*begin)(struct handle_sink *sink);
    /* Gone after the call. */
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
