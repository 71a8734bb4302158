/* Records of the File service and declarations shared by its files. The files in this directory
 * make the decisions and know nothing of HTTP or XML; those in rest/ parse requests and write
 * responses. README.md describes the design.
 *
 * Spaces and partitions:
 *   account space    account_space("file", account)
 *     partition ""        INNER  "p": service properties (properties/service_properties.h)
 *     partition <share>   LISTED "D" <deletion ticks be64> and one of the next two keys: of a
 *                                soft-deleted share of this name
 *                         LISTED "S" <snapshot ticks be64>: struct share of a snapshot
 *                         LISTED "s": struct share
 *                         INNER  "d": record of a recent deletion
 *                                (service/small_record.h)
 *   share space      (share.space): a tree (tree/record.h) of directories and files
 *     partition <id>      INNER  "f": struct file (file_record.h)
 * Snapshots therefore precede their share, as in List Shares. */
#ifndef LAGRA_FILE_FILE_H
#define LAGRA_FILE_FILE_H

#include "auth/policies.h"
#include "concurrency/opens.h"
#include "file/file_record.h"
#include "service/decision.h"
#include "tree/tree.h"

struct open_state;
struct service;

/* ---- targets of requests ---- */

/* LEVEL_SHARES is the service, LEVEL_ROOT the root directory of a share, LEVEL_PATH a directory
 * or file below the root. */
enum file_level { LEVEL_SHARES, LEVEL_SHARE, LEVEL_ROOT, LEVEL_PATH };

struct file_resource {
    struct resource base;
    struct bytes share; /* ptr NULL at service level */
    /* Decoded, without trailing slashes; ptr NULL above path level. */
    struct bytes path;
    bool trailing_dots; /* x-ms-allow-trailing-dot: true if trailing dots are part of names */
    instant snapshot;   /* share snapshot; 0 means the share itself */
};
static inline const struct file_resource *file_resource(const struct resource *resource)
{
    return (const struct file_resource *)(const void *)resource;
}
void file_signed_names(const struct resource *resource, struct bytes *ret_share,
                       struct bytes *ret_path);
/* Checks the share name and the path.
 * Returns OK, E_InvalidResourceName, E_OutOfRangeName, E_InvalidFileOrDirectoryPathName
 * rest: Naming-and-Referencing-Shares--Directories--Files--and-Metadata; semantics 10.1 */
enum error file_check_names(const struct resource *resource);

/* ---- shares: share_record.c ---- */

/* rest: Create-Share "x-ms-share-quota", "x-ms-access-tier" */
#define SHARE_QUOTA_DEFAULT_GIB 5120u
#define SHARE_QUOTA_MAX_GIB     102400u
#define SHARE_SNAPSHOTS_MAX     200u

/* Stored, so values must not change. */
enum share_tier { SHARE_TRANSACTION_OPTIMIZED, SHARE_HOT, SHARE_COOL };
#define SHARE_TIER_LAST SHARE_COOL
#define SHARE_TIERS     (SHARE_TIER_LAST + 1)

struct share {
    struct guid space;
    uint64_t generation; /* snapshot: generation of the tree (tree_snapshot()); else 0 */
    instant created;
    struct etag etag;
    instant modified;
    struct lease lease;
    uint32_t quota_gib; /* 1..SHARE_QUOTA_MAX_GIB */
    enum share_tier tier;
    instant tier_changed;
    bool has_moved; /* was moved from the tier `moved_from` */
    enum share_tier moved_from;
    uint32_t snapshots;      /* number of snapshots */
    instant newest_snapshot; /* date of the newest snapshot ever taken; the next one is later */
    struct bytes metadata;
    struct bytes policies; /* encoded, auth/policies.h */
    instant expires;       /* soft-deleted: end of the retention; else 0 */
    struct guid task;      /* soft-deleted: task that purges the share */
    struct partition
        at; /* not stored: partition that the share was read from, for writes in the share */
};
/* Identifies a record in a share's partition. */
struct share_key {
    instant deleted;  /* deletion time, for soft-deleted shares and their snapshots; else 0 */
    instant snapshot; /* snapshot date; 0 means the share itself */
};
extern const struct share_key share_itself;
static inline struct share_key share_snapshot_key(instant snapshot)
{
    return (struct share_key){ .snapshot = snapshot };
}
/* Reads a share or snapshot. Strings are in the arena.
 * Returns STORE_OK, STORE_NOT_FOUND, STORE_CORRUPT, STORE_WAIT, STORE_IO. */
enum store_result share_read(struct read_view *before, struct arena *arena, struct share_key key,
                             struct share *ret_share);
void share_write(struct changes *changes, struct arena *arena, struct share_key key,
                 const struct share *share);
/* Deletes the record only. changes_drop_space() deletes the contents of the share. */
void share_delete_record(struct changes *changes, struct arena *arena, struct share_key key);
/* Writes a share (not a snapshot) with a newer ETag and modification time. */
void share_write_changed(struct decision *d, struct share *share);
struct bytes share_record_key(struct arena *arena, struct share_key key);
/* Decodes the key of a share record. Returns false if it is not one. */
bool share_key_read(struct bytes key, struct share_key *ret_key);
/* Returns true if the key is that of a share, deleted or not, rather than of a snapshot. */
bool share_key_is_whole(struct bytes key);
/* Decodes a share record; *ret_share points into value. Returns false if the record is
 * malformed. */
bool share_decode(struct bytes key, struct bytes value, struct share *ret_share,
                  struct share_key *ret_key);
/* Returns the records of a share's snapshots, oldest first. deleted: deletion time of a
 * soft-deleted share; 0 for the existing share */
struct scan *share_scan_snapshots(struct read_view *before, struct arena *arena, instant deleted);

/* ---- state of a decision on the File service: subject.c ---- */

struct file_state {
    struct subject_state base;
    struct share share; /* share or requested snapshot */
    /* Filled in by the subjects of path_subject.c: */
    struct tree tree;
    struct tree_place place;
    struct decision_part *part; /* of the directory or file; NULL if it does not exist */
    struct file file;           /* valid if part is not NULL */
    struct open_state
        /* open states read in this decision, of nodes that are open (opens/open_state.h) */
        *open_states;
};
static inline struct file_state *file_state(struct decision *d)
{
    return (struct file_state *)(void *)d->state;
}
static inline const struct file_resource *file_requested(const struct decision *d)
{
    return file_resource(d->input->resource);
}

struct guid file_account_space(struct bytes account);
enum error file_locate(struct decision *d, struct partition *ret_partition);
enum error file_permit_facts(struct decision *d, struct permit_facts *ret_facts);

/* Subject functions: find the share, or the requested snapshot of it. Return E_ShareNotFound if it
 * does not exist. */
enum error share_subject(struct decision *d);
/* Like share_subject(), for Delete Share: a share that was deleted recently is treated as
 * missing without an error. decision: 62 */
enum error share_subject_deleted(struct decision *d);

/* ---- directories and files: path_subject.c ---- */

/* Subject functions for a file or directory. They set d->before and d->changes to the node's
 * partition, or to that of its parent directory if the node does not exist, and fill in
 * file_state(d).
 * Returns OK; E_ParentNotFound, E_ResourceNotFound, E_ResourceTypeMismatch;
 * E_ShareSnapshotOperationNotSupported for writes to a share snapshot. */
enum error file_subject(struct decision *d);
enum error directory_subject(struct decision *d);
/* Like file_subject(), with the parent directory among the parts, for deletions. */
enum error file_subject_named(struct decision *d);
enum error directory_subject_named(struct decision *d);
/* Like file_subject_named(), for creations: the node may be missing or of the other kind. */
enum error new_subject(struct decision *d);

/* Subject function for operations on handles of a file or directory, including one in a
 * snapshot. */
enum error handles_subject(struct decision *d);

/* Reads the record of the node in state->part and sets d->subject, d->lease and state->file.
 * Returns OK, or an error of decision_fail_store(). */
enum error file_load(struct decision *d);

/* Reads a directory's record by its id, in the share or the requested snapshot. Succeeds for a root
 * directory without a record. Adds no part. Returns OK, or an error of decision_fail_store(). */
enum error file_read_directory(struct decision *d, uint64_t id, struct file *ret_file);

/* Checks the name of a directory or file. trailing_dots: whether trailing dots are part of the
 * name or ignored.
 * Returns OK, E_InvalidResourceName. */
enum error file_check_name(struct bytes name, bool trailing_dots);
/* Splits a path into names, without their trailing dots unless these are part of names. text: a
 * checked path, as in struct file_resource; ptr NULL for the root. Returns OK, or an error of
 * file_check_names(). */
enum error file_path_parse(struct arena *arena, struct bytes text, bool trailing_dots,
                           struct tree_path *ret_path);
/* Fails with the error code for a result of the tree. */
enum error file_fail_tree(struct decision *d, enum tree_result result);
/* Writes the subject with a newer ETag and modification time. Clears an ended lease. */
void file_write_modified(struct decision *d, struct file *file);
/* Like file_write_modified(), and also updates the change time. */
void file_write_changed(struct decision *d, struct file *file);

/* ---- checks against the opens of SMB clients: required_access.c ---- */

/* Check the operation against the opens of its node before it is decided, as the row's access
 * column requires, and write the open states afterwards. Members of struct service. */
enum error file_enter(struct decision *d);
enum error file_leave(struct decision *d);
/* Checks the operation against the opens of a node. Decide functions call it for nodes other than
 * the subject. part: the node's. Returns like open_state_check_rest(). */
enum error file_pass(struct decision *d, struct decision_part *part, uint64_t node,
                     const struct file *file, enum rest_use use);
/* Returns the open state of a node: the one already read in this decision, or reads it. part: the
 * node's. Returns like open_state_read(). */
enum error file_open_state(struct decision *d, struct decision_part *part, uint64_t node,
                           struct open_state **ret_opens);
/* Check byte-range locks before the subject's data is read or changed, like open_state_check_read()
 * and open_state_check_write(). */
enum error file_pass_read(struct decision *d, uint64_t offset, uint64_t length);
enum error file_pass_write(struct decision *d);

extern const struct service file_service;
extern const struct restore_functions file_restore; /* share_usage.c */
extern const struct usage_functions file_usage;     /* share_usage.c */

#endif
