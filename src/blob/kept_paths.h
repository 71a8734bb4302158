/* Retains deleted files and directories of a hierarchical container until they expire (soft delete),
 * and restores them (Undelete Blob). Several deletions of one path are independent of each other.
 * Overwriting does not retain anything. rest: "Soft delete for blobs"; decisions: 1305 to 1309
 *
 *                   delete, or replace by a rename            Undelete Blob
 *     at its path --------------------------------> retained --------------> at its path
 *                                                      | expire_path(), at the end of the retention
 *                                                      v
 *                                                   deleted, a directory in steps (directory.c)
 *
 * The node moves to the hidden directory (namespace.h) in one commit, with everything below it, of
 * which no record changes. The record of its blob gets the deletion and the path, by which List Blobs
 * and Undelete Blob find it in an index (kept_path_index.h). */
#ifndef LAGRA_BLOB_KEPT_PATHS_H
#define LAGRA_BLOB_KEPT_PATHS_H

#include "blob/retention.h"

/* Stored, see uncommitted.h. */
enum { TASK_EXPIRE_PATH = 0x160 };
/* Deletes a retained path for good, unless it was restored. */
task_fn expire_path;

/* Moves the file or directory of the subject to the retained paths. retention: soft delete must be
 * on; the file must have no snapshots
 *
 * returns  OK; DECIDE_PREPARED; an error of decision_fail_store() */
enum error kept_path_retain(struct decision *d, const struct retention *retention,
                            instant *ret_deleted);
/* Marks the blob of the state as deleted, in the changes that move it to the hidden directory. */
enum error kept_path_mark(struct decision *d, const struct retention *retention);

/* Restores the path of the request, with all that was below it. Subject: blob_subject_undeleted;
 * NEEDS_NAME.
 *
 * deleted    time of the deletion; 0 for the newest one, or none if the path exists
 * *ret_blob  the blob of the path
 * returns  OK; E_BlobAlreadyExists; E_RenameDestinationParentPathNotFound; E_BlobNotFound: no such
 *          deletion is retained */
enum error kept_path_undelete(struct decision *d, instant deleted, struct blob *ret_blob);

/* Time of a deletion in units of 100 ns since 1601: its id for clients. */
#define DELETION_ID_START (INSTANT_UNIX_EPOCH - UINT64_C(11644473600) * TICKS_PER_SECOND)
static inline uint64_t deletion_id(instant deleted)
{
    return deleted - DELETION_ID_START;
}

#endif
