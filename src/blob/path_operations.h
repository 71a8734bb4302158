/* Operations on paths of a hierarchical container that the Blob API does not have, for the Data
 * Lake endpoint. Pure functions, called by decide functions.
 *
 * Their rows have blob_locate(), blob_enter(), the subject functions of blob/blob.h, and in
 * `passes` the NEEDS_ bits named here. A path is listed by list_blobs_decide() with
 * list_blobs_parameters.one_level or without, from a prefix with a slash at its end. Files are
 * created, written, read and deleted by the decide functions of blob/blob_operations.h. */
#ifndef LAGRA_BLOB_PATH_OPERATIONS_H
#define LAGRA_BLOB_PATH_OPERATIONS_H

#include "acl/posix_acl.h"
#include "blob/blob_operations.h"
#include "service/deferred_tasks.h"

/* Creates a directory, with its missing parents, or replaces the properties and metadata of an
 * existing one, whose contents stay. Subject: blob_subject_optional; NEEDS_NAME.
 *
 * creation        list of the directory, or NULL for the default
 * *ret_directory  as written; d->subject has its ETag
 * returns  OK; E_PathConflict if the path or a parent is a file; or an error of
 *          access_control_give() */
enum error path_create_directory(struct decision *d, const struct create_blob *create,
                                 const struct posix_creation *creation, struct blob *ret_directory);

/* Deletes a directory. A recursive delete is one commit, whatever is in the directory; a task
 * deletes the contents later. Subject: blob_subject_uncommitted; NEEDS_DESTROY.
 *
 * *ret_deleted  the time of the deletion, if it is retained; otherwise 0
 * returns  OK; E_PathDirectoryNotEmpty if it is not recursive; E_OperationNotSupportedOnDirectory
 *          for the root */
enum error path_delete_directory(struct decision *d, bool is_recursive, instant *ret_deleted);

/* Deletes the file or empty directory of the subject, which must have no snapshots, and retains it if
 * soft delete is on (kept_paths.h).
 *
 * *ret_deleted  as above
 * returns  OK; DECIDE_PREPARED; an error of decision_fail_content() */
enum error path_delete(struct decision *d, instant *ret_deleted);

/* Deletes the blob of the state, its snapshots, or both, without retaining them. Blobs that are
 * already soft-deleted remain so. Also for tasks. */
enum error blob_delete_for_good(struct decision *d, enum delete_snapshots snapshots);

/* Deletes the blob of the subject's partition, with its snapshots and its name; for tasks. Returns
 * STORE_OK, STORE_BUSY, STORE_CONFLICT, or an error of the store. */
enum store_result blob_delete_in_task(struct decision *d);

/* Deletes the contents of a deleted directory. Stored, see uncommitted.h. */
enum { TASK_DELETE_DIRECTORY = 0x150 };
task_fn delete_directory_task;

struct path_rename {
    struct bytes container; /* of the source; ptr NULL for that of the destination */
    bool may_be_elsewhere;  /* a container that does not exist here may be in another cell */
    bool keeps_container;   /* the permission depends on a policy of the source's container */
    unsigned granted;       /* actions that the caller's roles permit in that container */
    struct bytes source;    /* path */
    const struct guid *source_lease;     /* NULL if not sent */
    struct conditions source_conditions; /* class CONDITIONS_OF_WRITE */
};
/* Reads the container of the source, if it is not that of the destination, which is flat or known.
 * Returns OK; E_SourcePathNotFound if it does not exist; or an error of
 * decision_fail_store(). */
enum error path_rename_open_container(struct decision *d, const struct path_rename *asked,
                                      struct container *ret_container);
/* Finds the source for path_rename(), which otherwise does so itself; for a subject function, since
 * a missing source is reported before a condition of the destination. Returns OK,
 * E_SourcePathNotFound, E_InvalidRenameSourcePath for the root, E_NotImplemented if the container
 * is not in the same tree, or an error of decision_fail_store(). */
enum error path_rename_find_source(struct decision *d, const struct path_rename *asked);
/* Renames a file or a directory, with everything below it, in one commit, also from another
 * container that shares the tree (container_root.h). The path of the request is the destination: an
 * existing file is replaced by a file, an empty directory by a directory.
 * The renamed blob retains its record, with its ETag, dates, lease and snapshots. Subject:
 * blob_subject_optional; NEEDS_NAME; the row checks conditions and lease of the destination. What is
 * replaced is retained if soft delete is on (kept_paths.h).
 *
 * *ret_blob  the renamed blob; d->subject has its ETag
 * returns  OK; E_SourcePathNotFound; E_RenameDestinationParentPathNotFound; E_PathConflict;
 *          E_SourceConditionNotMet; as lease_check_write() for the source; E_PendingCopyOperation;
 *          E_InvalidRenameSourcePath: onto itself, or below itself;
 *          E_InvalidSourceOrDestinationResourceType; E_PathDirectoryNotEmpty;
 *          E_SnapshotsPresent: of the replaced file */
enum error path_rename(struct decision *d, const struct path_rename *asked, struct blob *ret_blob);

#endif
