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

/* Creates a directory, with its missing parents, or replaces the metadata of an existing one, whose
 * contents are unchanged. Subject: blob_subject_optional; NEEDS_NAME.
 *
 * creation        permissions of a new directory, or NULL for the default
 * *ret_directory  as written; d->subject has its ETag
 * returns  OK; E_PathConflict if the path or a parent is a file */
enum error path_create_directory(struct decision *d, struct bytes metadata,
                                 const struct posix_creation *creation, struct blob *ret_directory);

/* Deletes a directory. A recursive delete is one commit, whatever is in the directory; a task
 * deletes the contents later. Subject: blob_subject_uncommitted; NEEDS_DESTROY.
 *
 * returns  OK; E_PathDirectoryNotEmpty if it is not recursive; E_OperationNotSupportedOnDirectory
 *          for the root */
enum error path_delete_directory(struct decision *d, bool is_recursive);

/* Deletes the blob of the state, its snapshots, or both, without retaining them. Blobs that are
 * already soft-deleted remain so. Also for tasks. */
enum error blob_delete_for_good(struct decision *d, enum delete_snapshots snapshots);

/* Deletes the contents of a deleted directory. Stored, see uncommitted.h. */
enum { TASK_DELETE_DIRECTORY = 0x150 };
task_fn delete_directory_task;

struct path_rename {
    struct bytes source;                 /* path in the same container */
    const struct guid *source_lease;     /* NULL if not sent */
    struct conditions source_conditions; /* class CONDITIONS_OF_WRITE */
};
/* Finds the source for path_rename(), which otherwise does so itself; for a subject function, since
 * a missing source is reported before a condition of the destination. Returns OK,
 * E_SourcePathNotFound, E_InvalidRenameSourcePath for the root, or an error of
 * decision_fail_store(). */
enum error path_rename_find_source(struct decision *d, const struct path_rename *asked);
/* Renames a file or a directory, with everything below it, in one commit. The path of the request
 * is the destination: an existing file is replaced by a file, an empty directory by a directory.
 * The renamed blob retains its record, with its ETag, dates, lease and snapshots. Subject:
 * blob_subject_optional; NEEDS_NAME; the row checks conditions and lease of the destination.
 *
 * *ret_blob  the renamed blob; d->subject has its ETag
 * returns  OK; E_SourcePathNotFound; E_RenameDestinationParentPathNotFound; E_PathConflict;
 *          E_SourceConditionNotMet; as lease_check_write() for the source; E_PendingCopyOperation;
 *          E_InvalidRenameSourcePath: onto itself, or below itself;
 *          E_InvalidSourceOrDestinationResourceType; E_PathDirectoryNotEmpty;
 *          E_SnapshotsPresent: of the replaced file */
enum error path_rename(struct decision *d, const struct path_rename *asked, struct blob *ret_blob);

#endif
