/* Inside blob/ only: keeps the old state of a blob that is overwritten or deleted, as a
 * soft-deleted snapshot, which Undelete Blob turns into an ordinary one, or as a version
 * (version.h). rest: Put-Blob; decisions: 790, 803 */
#ifndef LAGRA_BLOB_KEEP_BLOB_H
#define LAGRA_BLOB_KEEP_BLOB_H

#include "blob/retention.h"
#include "blob/uncommitted.h"

/* Makes the base *was a snapshot or version, with its content. The caller deletes the base's record
 * or writes other content to it.
 *
 * deletion  of the new snapshot; at 0: it is not soft-deleted
 *
 * Returns OK, E_SnapshotCountExceeded. */
enum error keep_state(struct decision *d, const struct blob *was, struct blob_ref ref,
                      const struct blob_deletion *deletion);
/* Replaces the content of the existing blob by `content`, and keeps the old state as keep_state()
 * does.
 *
 * blob     updated; the caller writes it. Its content was created in the same changes, from
 *          `blocks`, some of which may belong to the old content
 * blocks   NULL: the content is not made of blocks
 *
 * Returns OK, E_SnapshotCountExceeded, or an error of decision_fail_content(). */
enum error keep_replaced(struct decision *d, struct blob *blob, const struct named_blocks *blocks,
                         struct blob_ref ref, const struct blob_deletion *deletion);
/* Like keep_replaced(), and makes the old state a soft-deleted snapshot. retention: soft delete
 * must be on */
enum error keep_overwritten(struct decision *d, struct blob *blob,
                            const struct named_blocks *blocks, const struct retention *retention);
/* Undeletes what was soft-deleted under the name of `blob`, which the caller is creating: it
 * becomes a snapshot that expires as before, or by the current policy if soft delete is on. If it
 * is of another type, it is deleted for good, unless `any_type`. Returns OK, E_ServerBusy, or an
 * error of keep_overwritten(). */
enum error keep_undeleted(struct decision *d, struct blob *blob, bool any_type,
                          struct bytes account);
/* Makes the contents of `count` snapshots or versions that share the bytes of *base, oldest first.
 * The base stays, and *base is updated. At most once per list of changes.
 *
 * Returns like keep_replaced(). */
enum error keep_shared(struct decision *d, struct content *base, unsigned count,
                       struct content ret_kept[]);
/* Returns the record of a snapshot or version of the base. */
struct blob keep_record(const struct blob *base, struct blob_ref ref);
/* Returns true if the blob exists only because a copy to it is pending. */
bool is_place_of_copy(const struct blob *blob);

#endif
