/* The File service's records, and what its files share. The files of this folder decide and know
 * nothing of HTTP or XML; those of rest/ read requests and render answers. README.md has the design.
 *
 * Spaces and partitions:
 *   account space    account_space("file", account)
 *     partition ""        INNER  "p": service properties (service/service_properties.h)
 *     partition <share>   LISTED "D" <deletion ticks be64> and one of the following: of a share of
 *                                this name that was deleted and is kept
 *                         LISTED "S" <snapshot ticks be64>: struct share of a snapshot
 *                         LISTED "s": struct share
 *                         INNER  "d": the note of its deletion (service/recent_deletion.h)
 *   share space      (share.space): a tree (tree/record.h) of directories and files
 *     partition <id>      LISTED "f": struct file (file_record.h)
 * So snapshots are returned before their share, as List Shares shows them. */
#ifndef LAGRA_FILE_FILE_H
#define LAGRA_FILE_FILE_H

#include "auth/policies.h"
#include "concurrency/opens.h"
#include "file/file_record.h"
#include "service/decision.h"
#include "tree/tree.h"

struct file_gate;
struct service;

/* ---- what a request names ---- */

/* LEVEL_SHARES: the service itself. LEVEL_SHARE: a share. LEVEL_ROOT: its root directory. LEVEL_PATH: a
 * directory or a file below that. */
enum file_level { LEVEL_SHARES, LEVEL_SHARE, LEVEL_ROOT, LEVEL_PATH };

struct file_resource {
    struct resource base;
    struct bytes share; /* ptr NULL at service level */
    /* As sent and decoded, without slashes at its end; ptr NULL above path level. */
    struct bytes path;
    bool trailing_dots; /* of its names are kept; else they are removed */
    instant snapshot;   /* of the share; 0: the share itself */
};
static inline const struct file_resource *file_resource(const struct resource *resource)
{
    return (const struct file_resource *)(const void *)resource;
}
void file_signed_names(const struct resource *resource, struct bytes *ret_share,
                       struct bytes *ret_path);
/* returns OK, E_InvalidResourceName, E_OutOfRangeName, E_InvalidFileOrDirectoryPathName
 * rest: Naming-and-Referencing-Shares--Directories--Files--and-Metadata; semantics 10.1 */
enum error file_check_names(const struct resource *resource);

/* ---- shares: share_record.c ---- */

/* rest: Create-Share "x-ms-share-quota", "x-ms-access-tier" */
#define SHARE_QUOTA_DEFAULT_GIB 5120u
#define SHARE_QUOTA_MAX_GIB     102400u
#define SHARE_SNAPSHOTS_MAX     200u

/* Stored: never renumbered. */
enum share_tier { SHARE_TRANSACTION_OPTIMIZED, SHARE_HOT, SHARE_COOL };
#define SHARE_TIER_LAST SHARE_COOL
#define SHARE_TIERS     (SHARE_TIER_LAST + 1)

struct share {
    struct guid space;
    uint64_t generation; /* of a snapshot: of the tree (tree_snapshot()); else 0 */
    instant created;
    struct etag etag;
    instant modified;
    struct lease lease;
    uint32_t quota_gib; /* 1..SHARE_QUOTA_MAX_GIB */
    enum share_tier tier;
    instant tier_changed;
    bool has_moved; /* to its tier, from another */
    enum share_tier moved_from;
    uint32_t snapshots;      /* their number */
    instant newest_snapshot; /* that it ever had: the next one gets a later date */
    struct bytes metadata;
    struct bytes policies; /* encoded, auth/policies.h */
    instant expires;       /* of one that was deleted: kept until then; else 0 */
    struct guid task;      /* of one that was deleted, itself: that deletes it then */
    struct partition at; /* not in the record: where it was read, by those who write in the share */
};
/* Which record of a share's partition it is. */
struct share_key {
    instant deleted;  /* when, of a share that was deleted and its snapshots; else 0 */
    instant snapshot; /* its date; 0: the share itself */
};
extern const struct share_key share_itself;
static inline struct share_key share_snapshot_key(instant snapshot)
{
    return (struct share_key){ .snapshot = snapshot };
}
/* returns STORE_OK, STORE_NOT_FOUND, STORE_CORRUPT, STORE_WAIT, STORE_IO; strings are in the arena */
enum store_result share_read(struct snapshot *before, struct arena *arena, struct share_key key,
                             struct share *ret_share);
void share_write(struct changes *changes, struct arena *arena, struct share_key key,
                 const struct share *share);
/* Deletes the record (not what is in the share: changes_drop_space()). */
void share_delete_record(struct changes *changes, struct arena *arena, struct share_key key);
/* Writes *share, which is no snapshot, with a newer ETag and modification time than it has. */
void share_write_changed(struct decision *d, struct share *share);
/* The record's key. */
struct bytes share_record_key(struct arena *arena, struct share_key key);
/* For iterators. False: no record has such a key. */
bool share_key_read(struct bytes key, struct share_key *ret_key);
/* Is it the key of a share itself, deleted or not: of what has a space of its own? */
bool share_key_is_whole(struct bytes key);
/* For iterators: points into value. False: the record is malformed. */
bool share_decode(struct bytes key, struct bytes value, struct share *ret_share,
                  struct share_key *ret_key);
/* The records of its snapshots, in order. deleted: of the share that was deleted then; 0: of the one
 * that is there. */
struct scan *share_scan_snapshots(struct snapshot *before, struct arena *arena, instant deleted);

/* ---- what locate() and subjects find: d->state; subject.c ---- */

struct file_state {
    struct subject_state base;
    struct share share; /* or the snapshot that is asked for */
    /* Of what is in a share: by the subjects of path_subject.c. */
    struct tree tree;
    struct tree_place place;
    struct decision_part *part; /* of the directory or file; NULL: there is none */
    struct file file;           /* if so */
    struct file_gate *gates;    /* that were passed, where something is open (gate.h) */
};
static inline struct file_state *file_state(struct decision *d)
{
    return (struct file_state *)(void *)d->state;
}
static inline const struct file_resource *file_asked(const struct decision *d)
{
    return file_resource(d->input->resource);
}

struct guid file_account_space(struct bytes account);
enum error file_locate(struct decision *d, struct partition *ret_partition);
enum error file_permit_facts(struct decision *d, struct permit_facts *ret_facts);

/* Subjects of the rows: the share, or the snapshot of it that is asked for; missing:
 * E_ShareNotFound. */
enum error share_subject(struct decision *d);
/* As share_subject(); one that was deleted a moment ago does not exist, and is no error (Delete
 * Share). decision: 62 */
enum error share_subject_deleted(struct decision *d);

/* ---- what is in a share: path_subject.c ---- */

/* Subjects of the rows. They set d->before and d->changes to the node's partition or, if there is no node, to
 * that of its would-be directory, and fill file_state(d).
 * returns OK; E_ParentNotFound, E_ResourceNotFound, E_ResourceTypeMismatch; of a snapshot of the share,
 * if it is an operation that writes: E_ShareSnapshotOperationNotSupported */
enum error file_subject(struct decision *d);
enum error directory_subject(struct decision *d);
/* As file_subject(), with the node's directory among the parts: for deletions. */
enum error file_subject_named(struct decision *d);
enum error directory_subject_named(struct decision *d);
/* As file_subject_named(), but the node may be missing, or of the other kind: for creations. */
enum error new_subject(struct decision *d);

/* A node of either kind, also in a snapshot: for operations on handles. */
enum error handles_subject(struct decision *d);

/* Reads the record of the node that was found, in state->part, as d->subject, d->lease and state->file.
 * returns OK, as decision_fail_store() */
enum error file_load(struct decision *d);

/* The record of a directory by its id, as it is now or in the snapshot; of the root also while nothing was
 * written of it. No part is added. returns OK, as decision_fail_store() */
enum error file_read_directory(struct decision *d, uint64_t id, struct file *ret_file);

/* May a directory or file have this name? trailing_dots: of it count; else it is without them.
 * returns OK, E_InvalidResourceName */
enum error file_check_name(struct bytes name, bool trailing_dots);
/* A path of names, as the tree has it: without trailing dots, unless they count. text: as in struct
 * file_resource, and checked; ptr NULL: the root.
 * returns OK, as file_check_names() */
enum error file_path_parse(struct arena *arena, struct bytes text, bool trailing_dots,
                           struct tree_path *ret_path);
/* Fails with the wire error for a result of the tree. */
enum error file_fail_tree(struct decision *d, enum tree_result result);
/* Writes the subject, with a newer ETag and modification time than it has. A write forgets a lease that
 * has ended. */
void file_write_modified(struct decision *d, struct file *file);
/* As file_write_modified(), with a newer change time too. */
void file_write_changed(struct decision *d, struct file *file);

/* ---- beside what SMB clients have open: pass.c ---- */

/* struct service, enter and leave: the gate, as the row's column says. */
enum error file_enter(struct decision *d);
enum error file_leave(struct decision *d);
/* Passes the gate of another node than the subject, from a decide function. part: of the node
 * returns as gate_pass() */
enum error file_pass(struct decision *d, struct decision_part *part, uint64_t node,
                     const struct file *file, enum rest_use use);
/* The gate of a node: the one passed in this decision, or a new one. part: of the node
 * returns as gate_read() */
enum error file_gate_of(struct decision *d, struct decision_part *part, uint64_t node,
                        struct file_gate **ret_gate);
/* Before bytes of the subject are read, or written, cut off or replaced: as gate_pass_read(), gate_pass_write(). */
enum error file_pass_read(struct decision *d, uint64_t offset, uint64_t length);
enum error file_pass_write(struct decision *d);

extern const struct service file_service;

#endif
