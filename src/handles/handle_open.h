/* Opening and closing directories and files over SMB. ms-smb2: 3.3.5.9, 3.3.5.10; MS-FSA
 * 2.1.5.1, 2.1.5.5 */
#ifndef LAGRA_HANDLES_HANDLE_OPEN_H
#define LAGRA_HANDLES_HANDLE_OPEN_H

#include "acl/access_check.h"
#include "opens/open_state.h"
#include "handles/handle.h"

/* MS-SMB2 2.2.13 "CreateDisposition". */
enum open_disposition {
    OPEN_SUPERSEDES = 0, /* supersede or create */
    OPEN_EXISTING = 1,
    OPEN_NEW = 2,
    OPEN_OR_NEW = 3,
    OPEN_OVERWRITES = 4,        /* overwrite */
    OPEN_OVERWRITES_OR_NEW = 5, /* overwrite or create */
};
/* FILE_DIRECTORY_FILE, FILE_NON_DIRECTORY_FILE. The caller refuses both together. */
enum open_kind { OPEN_ANY_KIND, OPEN_FILE, OPEN_DIRECTORY };

/* MS-SMB2 2.2.14 "CreateAction". */
enum open_action {
    OPENED_NEW_FOR_OLD = 0,
    OPENED_EXISTING = 1,
    OPENED_NEW = 2,
    OPENED_OVERWRITTEN = 3
};

struct handle_open {
    const struct tree_connect *tree_connect;
    /* Path components in UTF-8 as sent by the client, without backslashes; none for the root. */
    const struct bytes *names;
    size_t name_count;
    instant snapshot; /* share snapshot, whole seconds; 0 means the share itself */
    enum open_disposition disposition;
    enum open_kind kind;
    uint32_t desired;    /* MAY_*, including generic rights and MAY_MAXIMUM */
    uint8_t share;       /* share access: ACCESS_* */
    uint32_t attributes; /* for a created or overwritten file: ATTRIBUTE_*, others are ignored */
    bool deletes;        /* FILE_DELETE_ON_CLOSE */
    bool makes_no_file;  /* the account is full: creating a file fails */
    /* For a created node (SMB2_CREATE_SD_BUFFER): self-relative; ptr NULL means inherited. */
    struct bytes descriptor;
    /* Requested CACHING_* and its key, which is unique among all clients: for a lease derived from
     * client GUID and lease key, for an oplock newly generated. Nothing is granted without READ, or
     * for a directory. Requires break_listener_add() before the attempt
     * (opens/break_notification.h). */
    uint8_t caching;
    bool is_oplock; /* one of none, R, RW, RWH */
    bool is_lease;  /* set even without caching flags: other opens with its key may request more */
    uint16_t epoch; /* lease epoch sent by the client, version 2 */
    struct guid caching_key;
    bool persists;                       /* persistent handle: survives a restart */
    struct durable_handle_state durable; /* persistent only: reconnect state */
    uint64_t session;
    struct bytes client_address, client_name; /* "203.0.113.7:53412" */

    /* ---- results ---- */
    struct held_handle handle;
    enum open_action action;
    struct handle_info info;
    struct caching_given given; /* for a lease its current caching, possibly more than requested */
    uint32_t maximum;           /* MAY_*: maximal access of the client */
    bool lasts;                 /* handle.h */
};
/* returns OK, DECIDE_WAITS
 *         E_InvalidResourceName             an invalid name
 *         E_InvalidFileOrDirectoryPathName  too long or too deep
 *         E_ParentNotFound                  a parent directory is missing or a file
 *         E_ResourceNotFound                the name or the snapshot does not exist
 *         E_ResourceAlreadyExists           OPEN_NEW
 *         E_ResourceTypeMismatch            not the kind of OPEN_FILE or OPEN_DIRECTORY
 *         E_InsufficientAccountCapacity     makes_no_file
 *         E_DeletePending                   the file, or the directory to create it in
 *         E_SharingViolation                another open or a REST lease conflicts
 *         E_ReadOnlyAttribute               write access, overwrite, or delete on close
 *         E_AuthorizationPermissionMismatch denied by the security descriptor, or by the
 *                                           attributes of an overwritten file
 *                                           (MS-FSA 2.1.5.1.2.1)
 *         E_FileInvalidPermission           invalid descriptor
 *         E_InvalidInput                    a directory is to be overwritten or superseded
 *         E_ServerBusy                      the node has OPENS_MAX opens
 *         E_ShareSizeLimitReached */
attempt_fn handle_open_attempt;

struct handle_close {
    const struct tree_connect *tree_connect;
    const struct held_handle *handle;

    /* ---- results ---- */
    struct handle_info info;
    bool deleted; /* was the last handle of a node with a pending delete */
};
/* Closes the handle, releases its locks and wakes waiters. Does not delete a directory that is
 * no longer empty. Data written by the handle is durable when d->seen is, so the caller waits
 * for that before it responds (docs/smb.md). If the handle was closed by force or its share is
 * deleted, the results have no info. Returns OK. */
attempt_fn handle_close_attempt;

#endif
