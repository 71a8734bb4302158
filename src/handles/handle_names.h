/* Renames an open file or directory, and lists an open directory.
 * ms-smb2: 3.3.5.18, 3.3.5.21.1; MS-FSA 2.1.5.6.3, 2.1.5.15.12 */
#ifndef LAGRA_HANDLES_HANDLE_NAMES_H
#define LAGRA_HANDLES_HANDLE_NAMES_H

#include "handles/handle.h"

struct handle_rename {
    const struct tree_connect *tree_connect;
    const struct held_handle *handle;
    const struct bytes *names; /* new path from the root, as in struct handle_open */
    size_t name_count;
    bool replaces; /* may replace an existing file with the new name */

    /* ---- results ---- */
    bool lasts;
};
/* Renames in one commit, however large the subtree. Breaks the handle caching of others first.
 * Returns OK, DECIDE_WAITS, E_InvalidResourceName, E_InvalidFileOrDirectoryPathName,
 *         E_ParentNotFound, E_ResourceAlreadyExists
 *         E_SharingViolation   the target directory is open without write sharing, or with
 *                              DELETE access
 *         E_AuthorizationPermissionMismatch
 *                              the existing target is a directory, open, or read-only; a node
 *                              below the renamed directory is open; the root
 *         E_InvalidInput       a directory into its own subtree. */
attempt_fn handle_rename_attempt;

/* ---- listing ---- */

/* Position of a listing, initially all zero. The caller owns the name. */
enum list_stage { LIST_DOT, LIST_DOT_DOT, LIST_NAMES, LIST_END };
struct list_position {
    enum list_stage stage;
    struct bytes
        name; /* for LIST_NAMES: this name or the next one; ptr NULL means from the first */
};

struct listed {
    struct bytes name; /* valid during the call */
    struct handle_info info;
};
struct list_sink {
    /* Restarts the page: discards the entries added so far. */
    void (*begin)(struct list_sink *sink);
    /* Adds an entry. Returns false if it does not fit; the page then ends before it. */
    bool (*add)(struct list_sink *sink, const struct listed *entry);
};

/* Lists a directory. "." and ".." come first if the pattern matches them. The names are a
 * consistent snapshot of the directory; the information of each entry is read while the page is
 * built (list_files.c). Includes entries with a pending delete. MS-FSA 2.1.5.6.3.2 */
struct handle_list {
    const struct tree_connect *tree_connect;
    const struct held_handle *handle; /* open directory */
    struct bytes pattern;             /* UTF-8, name_pattern.h; empty: all */
    struct list_position from;
    size_t max; /* entries, 1 or more */
    struct list_sink *sink;

    /* ---- results ---- */
    size_t count; /* number of entries added */
    struct list_position next;
};
/* Reads one page, which may have fewer entries than fit although more follow. Returns
 * DECIDE_BLOCKING for more than a few entries, which need a thread that may block.
 * Returns OK, also if nothing matches; E_ResourceTypeMismatch: a file; E_InvalidResourceName:
 * invalid pattern. */
attempt_fn handle_list_attempt;

#endif
