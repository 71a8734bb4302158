/* Names by SMB: renaming what is open, and listing an open directory.
 * ms-smb2: 3.3.5.18, 3.3.5.21.1; MS-FSA 2.1.5.6.3, 2.1.5.15.12 */
#ifndef LAGRA_FILE_HANDLE_NAMES_H
#define LAGRA_FILE_HANDLE_NAMES_H

#include "file/handle.h"

struct handle_rename {
    const struct mount *mount;
    const struct held_handle *handle;
    const struct bytes *names; /* of the new place, from the root: as of struct handle_open */
    size_t name_count;
    bool replaces; /* a file that has the name */

    /* ---- what comes of it ---- */
    bool lasts;
};
/* One commit, whatever lies below. Renaming asks others for their cached handles (DECIDE_WAITS).
 * returns OK, DECIDE_WAITS, E_InvalidResourceName, E_InvalidFileOrDirectoryPathName, E_ParentNotFound
 *         E_ResourceAlreadyExists
 *         E_SharingViolation   the directory of the new name is open by somebody who does not share writing,
 *                              or who may delete it
 *         E_AuthorizationPermissionMismatch
 *                              what has the name is a directory, is open, or is read-only; something is open
 *                              below the directory that is renamed; the root
 *         E_InvalidInput       a directory to below itself */
attempt_fn handle_rename_attempt;

/* ---- listing ---- */

/* Where a list goes on. At first all zero. The caller keeps the name. */
enum list_stage { LIST_DOT, LIST_DOT_DOT, LIST_NAMES, LIST_END };
struct list_position {
    enum list_stage stage;
    struct bytes name; /* of LIST_NAMES: at this name, or behind it; ptr NULL: from the first */
};

struct listed {
    struct bytes name; /* gone after the call */
    struct handle_info info;
};
struct list_sink {
    /* The list is made anew: what was added is forgotten. */
    void (*begin)(struct list_sink *sink);
    /* False: there is no room for it, and the list ends in front of it. */
    bool (*add)(struct list_sink *sink, const struct listed *entry);
};

/* "." and ".." come first, where the pattern matches them. Names are of one state of the directory, what is
 * shown of each was so while the page was made (list_files.c). What is to be deleted is shown.
 * MS-FSA 2.1.5.6.3.2 */
struct handle_list {
    const struct mount *mount;
    const struct held_handle *handle; /* of a directory */
    struct bytes pattern;             /* UTF-8, name_pattern.h; empty: all */
    struct list_position from;
    size_t max; /* entries, 1 or more */
    struct list_sink *sink;

    /* ---- what comes of it ---- */
    size_t count; /* entries that were added */
    struct list_position next;
};
/* One page; it may have fewer entries than there is room for although the list goes on. Of more than a few
 * entries it is a matter of a thread that may block: DECIDE_BLOCKING.
 * returns OK, also where nothing matches; E_ResourceTypeMismatch: it is a file
 *         E_InvalidResourceName: no pattern of names */
attempt_fn handle_list_attempt;

#endif
