/* Decisions of SMB commands on directories and files: handle_open.h, handle_io.h, handle_info.h,
 * handle_names.h, handle_locks.h. This header has their common declarations.
 *
 * Each command is a struct of parameters and results, and an attempt (service/deciding.h) whose
 * `of` is that struct. An attempt checks the open state (opens/open_state.h), is pure, and may run
 * again: it reads the parameters and overwrites the results. The results are valid once it has
 * returned OK and its changes, if any, are committed; pointers in them are to d->arena.
 *
 *     of->tree connect, of->handle, ...                parameters
 *     deciding_attempt(d, handle_x_attempt, of) or deciding_run_unawaited(d, ..)
 *     deciding_commit(d)                        unless deciding_is_empty(d)
 *     of->...                                   results
 *
 * The caller sets these members of struct decision: service (&file_service), input (account,
 * identity), arena and attempt, store, access, problem. d->input->resource is not used.
 *
 * DECIDE_WAITS: other clients must first give up caching or a lock; d->waits_until is the timeout.
 * The breaks are committed as usual (service/waiting.h) and delivered by
 * opens/break_notification.h. If the waiting client disconnects, the caller just stops.
 *
 * The caller chooses what must be durable before it responds. d->seen is the state that was read
 * and committed. An attempt that sets `lasts` has changed something that must survive a crash (a
 * name, a property); otherwise it has changed only opens, which need not.
 *
 * Only opens check access rights here. Before any other command, the caller checks that
 * handle->granted includes the access that the command requires (MS-SMB2 3.3.5.x). Share snapshots
 * are read-only: changing one returns E_ShareSnapshotOperationNotSupported.
 *
 * Every attempt may also return E_ShareNotFound (tree_connect.h), and every attempt on a handle
 * E_ResourceNotFound if the handle was closed by force or its file is deleted. Thread-safe. */
#ifndef LAGRA_HANDLES_HANDLE_H
#define LAGRA_HANDLES_HANDLE_H

#include "handles/tree_connect.h"
#include "opens/open_record.h"

/* An open, as held by its connection. */
struct held_handle {
    uint64_t node;   /* id of the directory or file, constant across renames */
    uint64_t id;     /* 0 in a share snapshot, whose opens are not recorded */
    uint64_t parent; /* id of the parent directory at open time */
    enum tree_kind kind;
    instant snapshot; /* share snapshot; 0 means the share itself */
    uint32_t granted; /* MAY_*, without generic rights */
    struct handle_times times;
};

/* File information as SMB reports it. */
struct handle_info {
    uint64_t node, parent; /* ids; 0 for the root */
    enum tree_kind kind;
    uint32_t attributes; /* ATTRIBUTE_*; 0 means a normal file */
    instant created, accessed, written, changed;
    uint64_t length, allocated; /* bytes; 0 for directories */
    bool is_delete_pending;
};

/* Cluster size: the reported allocation size of a file is its length, including holes, rounded up
 * to this. */
#define FILE_CLUSTER_BYTES 4096u

#endif
