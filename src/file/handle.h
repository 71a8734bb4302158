/* What SMB commands decide of directories and files: handle_open.h, handle_io.h, handle_info.h,
 * handle_names.h, handle_locks.h. Here: what all of them share.
 *
 * Each command is a struct of what is asked and what comes of it, and an attempt (service/deciding.h)
 * whose `of` is that struct. An attempt goes through the gate (gate.h), is pure, and may run again: it reads
 * what is asked, and writes what comes of it anew. What comes of it is valid when it has returned OK and its
 * changes, if there are any, are committed; what it points to lies in d->arena.
 *
 *     of->mount, of->handle, ...                what is asked
 *     deciding_attempt(d, handle_x_attempt, of) or deciding_run_unawaited(d, ..)
 *     deciding_commit(d)                        unless deciding_is_empty(d)
 *     of->...                                   what has come of it
 *
 * The caller fills in of struct decision: service (&file_service), input (account, identity), arena and
 * attempt, store, access, problem. d->input->resource is not looked at.
 *
 * DECIDE_WAITS: others are to give up what they cache, or a lock; d->waits_until says until when. What is
 * asked of them is committed as ever (service/waiting.h), and reaches them by break_news.h. A caller
 * whose client has gone away just stops.
 *
 * What is waited for before the answer is the caller's choice. d->seen is what was read and committed. An
 * attempt whose `lasts` is true changed what a crash must not undo (a name, a property); without that it
 * changed only what is open, which no crash outlives.
 *
 * No function here looks at what a handle may do, but for opening: the caller checks handle->granted
 * against what its command needs (MS-SMB2 3.3.5.x). A share's snapshots are read only: what would change
 * something there returns E_ShareSnapshotOperationNotSupported.
 *
 * Every attempt also returns E_ShareNotFound (mount.h), and every one by a handle E_ResourceNotFound: the
 * handle was closed by force, or its file is gone. Any thread. */
#ifndef LAGRA_FILE_HANDLE_H
#define LAGRA_FILE_HANDLE_H

#include "file/mount.h"
#include "file/open_record.h"

/* An open, as the one who holds it keeps it. */
struct held_handle {
    uint64_t node;   /* of the directory or file: the same under any name */
    uint64_t id;     /* 0: in a snapshot of the share, where nothing is kept of it */
    uint64_t parent; /* id of the directory that it was in when it was opened */
    enum tree_kind kind;
    instant snapshot; /* of the share; 0: the share itself */
    uint32_t granted; /* MAY_*, mapped */
    struct handle_times times;
};

/* What SMB shows of a directory or file. */
struct handle_info {
    uint64_t node, parent; /* ids; the root's is 0 */
    enum tree_kind kind;
    uint32_t attributes; /* ATTRIBUTE_*; none: a normal file */
    instant created, accessed, written, changed;
    uint64_t length, allocated; /* bytes; 0 of a directory */
    bool is_delete_pending;
};

/* How many bytes are shown as allocated to a file of this length: whole clusters of this. Holes count. */
#define FILE_CLUSTER_BYTES 4096u

#endif
