/* What is known of an open directory or file, and setting it, but for its name: handle_names.h.
 * ms-smb2: 3.3.5.20, 3.3.5.21; MS-FSA 2.1.5.12, 2.1.5.15 */
#ifndef LAGRA_FILE_HANDLE_INFO_H
#define LAGRA_FILE_HANDLE_INFO_H

#include "file/handle.h"
#include "file/security_descriptor.h"

struct handle_query {
    const struct mount *mount;
    const struct held_handle *handle;
    bool wants_path;           /* not in a snapshot: there it stays what it was opened by */
    uint32_t wants_descriptor; /* DESCRIPTOR_* (security_descriptor.h); 0: none */

    /* ---- what comes of it ---- */
    struct handle_info info;
    struct bytes path;       /* if wanted: from the root, with '/'; empty: the root */
    struct bytes descriptor; /* those parts, self-relative */
};
/* returns OK; E_ResourceNotFound also where the path is wanted and has more than HANDLE_DEPTH_MAX names */
attempt_fn handle_query_attempt;

/* MS-FSCC 2.4.7 "FileBasicInformation" */
enum basic_time {
    BASIC_TIME_KEPT,   /* 0 */
    BASIC_TIME_FROZEN, /* -1: operations by this handle change it no more */
    BASIC_TIME_THAWED, /* -2: they do again */
    BASIC_TIME_GIVEN,  /* and they change it no more */
};
struct basic_time_given {
    enum basic_time kind;
    instant at; /* of BASIC_TIME_GIVEN */
};
struct handle_set_basic {
    const struct mount *mount;
    const struct held_handle *handle;
    struct basic_time_given created, accessed, written, changed;
    bool has_attributes;
    uint32_t attributes; /* ATTRIBUTE_*, others are ignored; DIRECTORY by kind */

    /* ---- what comes of it ---- */
    struct handle_times times;
    bool lasts;
};
/* returns OK; E_InvalidInput: a file is to be a directory, or a directory temporary */
attempt_fn handle_set_basic_attempt;

/* FileEndOfFileInformation, FileAllocationInformation (is_allocation: cuts, and never lengthens).
 * Sets the last write time though the length be the same. returns OK, E_ResourceTypeMismatch; E_InvalidRange: above FILE_LENGTH_MAX; E_ShareSizeLimitReached */
struct handle_set_length {
    const struct mount *mount;
    const struct held_handle *handle;
    uint64_t length;
    bool is_allocation;
    bool may_not_grow; /* the account is full: E_InsufficientAccountCapacity */

    /* ---- what comes of it ---- */
    struct handle_times times;
    bool lasts;
};
attempt_fn handle_set_length_attempt;

/* FileDispositionInformation. What is to be deleted goes with its last handle; no crash outlives that it is.
 * returns OK, DECIDE_WAITS, E_ReadOnlyAttribute, E_DirectoryNotEmpty, E_SharingViolation: not opened to be deleted
 *         E_ResourceTypeMismatch: the root */
struct handle_set_disposition {
    const struct mount *mount;
    const struct held_handle *handle;
    bool deletes;
};
attempt_fn handle_set_disposition_attempt;

struct handle_set_descriptor {
    const struct mount *mount;
    const struct held_handle *handle;
    uint32_t parts;          /* DESCRIPTOR_* that are set; others stay */
    struct bytes descriptor; /* self-relative, as sent */

    /* ---- what comes of it ---- */
    bool lasts;
};
/* returns OK, DECIDE_WAITS, E_FileInvalidPermission */
attempt_fn handle_set_descriptor_attempt;
#endif
