/* Queries and sets the information of an open directory or file, except its name (handle_names.h).
 * ms-smb2: 3.3.5.20, 3.3.5.21; MS-FSA 2.1.5.12, 2.1.5.15 */
#ifndef LAGRA_HANDLES_HANDLE_INFO_H
#define LAGRA_HANDLES_HANDLE_INFO_H

#include "handles/handle.h"
#include "acl/security_descriptor.h"

struct handle_query {
    const struct tree_connect *tree_connect;
    const struct held_handle *handle;
    bool wants_path;           /* not for snapshots, whose paths never change */
    uint32_t wants_descriptor; /* DESCRIPTOR_* (security_descriptor.h); 0 means none */

    /* ---- results ---- */
    struct handle_info info;
    struct bytes path;       /* if requested: from the root, with '/'; empty for the root */
    struct bytes descriptor; /* requested parts, self-relative */
};
/* returns OK, E_ResourceNotFound: also if the requested path has more than HANDLE_DEPTH_MAX
 * names */
attempt_fn handle_query_attempt;

/* MS-FSCC 2.4.7 "FileBasicInformation" */
enum basic_time {
    BASIC_TIME_KEPT,   /* 0 means unchanged */
    BASIC_TIME_FROZEN, /* -1: no longer updated by operations on this handle */
    BASIC_TIME_THAWED, /* -2: updated again */
    BASIC_TIME_GIVEN,  /* set, and no longer updated */
};
struct basic_time_given {
    enum basic_time kind;
    instant at; /* for BASIC_TIME_GIVEN */
};
struct handle_set_basic {
    const struct tree_connect *tree_connect;
    const struct held_handle *handle;
    struct basic_time_given created, accessed, written, changed;
    bool has_attributes;
    uint32_t attributes; /* ATTRIBUTE_*, others are ignored; DIRECTORY follows from the kind */

    /* ---- results ---- */
    struct handle_times times;
    bool lasts;
};
/* returns OK, E_InvalidInput: DIRECTORY set on a file, or TEMPORARY on a directory */
attempt_fn handle_set_basic_attempt;

/* FileEndOfFileInformation, FileAllocationInformation (is_allocation: truncates, never extends).
 * Updates the last write time even if the length is unchanged.
 * Returns OK, E_ResourceTypeMismatch; E_InvalidRange: above FILE_LENGTH_MAX;
 * E_ShareSizeLimitReached. */
struct handle_set_length {
    const struct tree_connect *tree_connect;
    const struct held_handle *handle;
    uint64_t length;
    bool is_allocation;
    bool may_not_grow; /* the account is full: extending fails with E_InsufficientAccountCapacity */

    /* ---- results ---- */
    struct handle_times times;
    bool lasts;
};
attempt_fn handle_set_length_attempt;

/* FileDispositionInformation. The node is deleted when its last handle is closed. A pending
 * delete does not survive a crash.
 * Returns OK, DECIDE_WAITS, E_ReadOnlyAttribute, E_DirectoryNotEmpty,
 *         E_SharingViolation: handle lacks DELETE; E_ResourceTypeMismatch: the root. */
struct handle_set_disposition {
    const struct tree_connect *tree_connect;
    const struct held_handle *handle;
    bool deletes;
};
attempt_fn handle_set_disposition_attempt;

struct handle_set_descriptor {
    const struct tree_connect *tree_connect;
    const struct held_handle *handle;
    uint32_t parts;          /* DESCRIPTOR_* to set; others are unchanged */
    struct bytes descriptor; /* self-relative, as sent */

    /* ---- results ---- */
    bool lasts;
};
/* returns OK, DECIDE_WAITS, E_FileInvalidPermission */
attempt_fn handle_set_descriptor_attempt;
#endif
