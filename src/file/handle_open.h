/* Opening and closing directories and files by SMB. ms-smb2: 3.3.5.9, 3.3.5.10; MS-FSA 2.1.5.1, 2.1.5.5 */
#ifndef LAGRA_FILE_HANDLE_OPEN_H
#define LAGRA_FILE_HANDLE_OPEN_H

#include "file/access_mask.h"
#include "file/gate.h"
#include "file/handle.h"

/* MS-SMB2 2.2.13 "CreateDisposition". */
enum open_disposition {
    OPEN_SUPERSEDES = 0, /* makes it new, or makes a new one */
    OPEN_EXISTING = 1,
    OPEN_NEW = 2,
    OPEN_OR_NEW = 3,
    OPEN_OVERWRITES = 4,        /* what is there */
    OPEN_OVERWRITES_OR_NEW = 5, /* or makes a new one */
};
/* FILE_DIRECTORY_FILE, FILE_NON_DIRECTORY_FILE; both is the caller's to refuse. */
enum open_kind { OPEN_ANY_KIND, OPEN_FILE, OPEN_DIRECTORY };

/* What was done, as MS-SMB2 2.2.14 "CreateAction" numbers it. */
enum open_action {
    OPENED_NEW_FOR_OLD = 0,
    OPENED_EXISTING = 1,
    OPENED_NEW = 2,
    OPENED_OVERWRITTEN = 3
};

struct handle_open {
    const struct mount *mount;
    /* The names on the way, in UTF-8, as the client sent them, without backslashes; none: the root. */
    const struct bytes *names;
    size_t name_count;
    instant snapshot; /* of the share, of whole seconds; 0: the share itself */
    enum open_disposition disposition;
    enum open_kind kind;
    uint32_t desired;    /* MAY_*, generic ones and MAY_MAXIMUM too */
    uint8_t share;       /* ACCESS_* that others may have */
    uint32_t attributes; /* of what is made or overwritten: ATTRIBUTE_*, others are ignored */
    bool deletes;        /* FILE_DELETE_ON_CLOSE */
    bool makes_no_file;  /* the account is full */
    /* Of what is made (SMB2_CREATE_SD_BUFFER): self-relative; ptr NULL: it inherits. */
    struct bytes descriptor;
    /* What it would like to cache: CACHING_*, and by which key. The key is one of all clients': of a lease
     * it is made of the client's GUID and the lease key; of an oplock a fresh one. Without READ, or of a
     * directory, none is given. break_listener_add() before the attempt (break_news.h). */
    uint8_t caching;
    bool is_oplock; /* which is none, R, RW or RWH */
    bool is_lease;  /* though of nothing: other opens of its key may ask for more */
    uint16_t epoch; /* of a lease of version 2, as the client counts */
    struct guid caching_key;
    bool persists;           /* SMB 3 persistent handle: counts after a restart too */
    struct handle_kept kept; /* of one that persists: its ticks and what is its client's */
    uint64_t session;
    struct bytes client_address, client_name; /* "203.0.113.7:53412" */

    /* ---- what comes of it ---- */
    struct held_handle handle;
    enum open_action action;
    struct handle_info info;
    struct caching_given given; /* of a lease what it has now, perhaps more than was asked for */
    uint32_t maximum;           /* MAY_*: what the client might have been granted at most */
    bool lasts;                 /* handle.h */
};
/* returns OK, DECIDE_WAITS
 *         E_InvalidResourceName             a name that files cannot have
 *         E_InvalidFileOrDirectoryPathName  too long or too deep
 *         E_ParentNotFound                  a directory on the way is not there, or is a file
 *         E_ResourceNotFound                nothing has the name; the snapshot is not there
 *         E_ResourceAlreadyExists           OPEN_NEW
 *         E_ResourceTypeMismatch            it is of the other kind than OPEN_FILE or OPEN_DIRECTORY
 *         E_InsufficientAccountCapacity     makes_no_file
 *         E_DeletePending                   of it, or of the directory where it would be made
 *         E_SharingViolation                by another open, or by a lease of the File REST API
 *         E_ReadOnlyAttribute               to be written, overwritten, or deleted on close
 *         E_AuthorizationPermissionMismatch its security descriptor, or its attributes where it is
 *                                           overwritten (MS-FSA 2.1.5.1.2.1), do not allow it
 *         E_FileInvalidPermission           the descriptor
 *         E_InvalidInput                    a directory cannot be overwritten or superseded
 *         E_ServerBusy                      OPENS_MAX handles are open of it
 *         E_ShareSizeLimitReached */
attempt_fn handle_open_attempt;

struct handle_close {
    const struct mount *mount;
    const struct held_handle *handle;

    /* ---- what comes of it ---- */
    struct handle_info info;
    bool deleted; /* it was the last one of what was to be deleted */
};
/* What was written by the handle is durable when d->seen is, so that is awaited before it is answered
 * (docs/smb.md). One that was closed by force, or whose share is gone, is closed: OK, without info. Locks of the handle are given back, others woken;
 * a directory that is not empty any more is not deleted. returns OK */
attempt_fn handle_close_attempt;

#endif
