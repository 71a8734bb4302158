/* Internal to blob/: retains the old state of a blob that is overwritten or deleted, either as a
 * soft-deleted snapshot, which Undelete Blob turns into an ordinary one, or as a version.
 * rest: Put-Blob; decisions: 790, 803 */
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
/* Replaces the content of the existing blob by `content`, and retains the old state like
 * keep_state().
 *
 * blob     updated; the caller writes it. Its content was created in the same changes, from
 *          `blocks`, some of which may belong to the old content
 * blocks   NULL: the content does not consist of blocks
 *
 * Returns OK, E_SnapshotCountExceeded, or an error of decision_fail_content(). */
enum error keep_replaced(struct decision *d, struct blob *blob, const struct named_blocks *blocks,
                         struct blob_ref ref, const struct blob_deletion *deletion);
/* Like keep_replaced(), and makes the old state a soft-deleted snapshot. retention: soft delete
 * must be on */
enum error keep_overwritten(struct decision *d, struct blob *blob,
                            const struct named_blocks *blocks, const struct retention *retention);
/* Undeletes a soft-deleted blob with the name of `blob`, which the caller is creating. It becomes a
 * snapshot that expires as before, or by the current policy if soft delete is on. If it is of
 * another type, it is permanently deleted, unless `any_type`. Returns OK, E_ServerBusy, or an error
 * of keep_overwritten(). */
enum error keep_undeleted(struct decision *d, struct blob *blob, bool any_type,
                          struct bytes account);
/* Makes the contents of `count` snapshots or versions that share the bytes of *base, oldest first.
 * The base remains, and *base is updated. At most once per list of changes.
 *
 * Returns the results of keep_replaced(). */
enum error keep_shared(struct decision *d, struct content *base, unsigned count,
                       struct content ret_kept[]);
/* Returns the record of a snapshot or version of the base. */
struct blob keep_record(const struct blob *base, struct blob_ref ref);
/* Returns true if the blob exists only because a copy to it is pending. */
bool is_place_of_copy(const struct blob *blob);

/* Internal to blob/: versions of a blob, if its account has versioning: the state that each write
 * creates has an id, and is retained when the blob is overwritten or deleted.
 *
 *                    write                 write, copy, delete
 *   (none) ------------------> current ------------------------> previous ---> gone: Delete Blob
 *                              the base                          a record      with its versionid,
 *                                                                              or soft-deleted
 *
 * (1) A version id is the time of the write, in ticks, and unique in the blob: it is greater than
 *     all previous ids of the blob, and no snapshot has that date. load_blob() advances the clock
 *     of a decision beyond it.
 * (2) Previous versions and snapshots are records of the same kind, in one order; the rules for
 *     contents and generations (contents.h) apply to both.
 * (3) A blob with previous versions has a base record. A deleted base leaves an anchor, which
 *     describes the last current version without its content (blob_has_versions_only()).
 * (4) All versions of a blob are of one type.
 * (5) Only Delete Blob with a versionid removes a state that has an id. So when versioning is
 *     turned off, the current version still becomes a previous one when it is overwritten or
 *     deleted; blobs written after that have no id, and are overwritten and deleted like
 *     unversioned ones.
 * Append Block, Put Page, Set Blob Properties, Tier and Tags change the current version in place.
 * rest: "Blob versioning"; semantics 5; decisions: 803 to 805 */

/* Effect of a write on the versions of the blob. */
struct version_change {
    bool keeps;   /* the existing base is retained: */
    instant kept; /* id of the retained base */
    instant id;   /* id of the new state; 0: it is not a version */
};
/* Returns OK, E_InvalidBlobType if the blob has versions of a type other than `type`, or an error
 * of decision_fail_store(). */
enum error version_plan(struct decision *d, const struct retention *retention, enum blob_type type,
                        struct version_change *ret_change);
/* Sets the version fields of the new state. */
void version_give(struct decision *d, const struct version_change *change, struct blob *blob);

/* Called before a change of *blob, the existing or future base: retains a version that shares its
 * bytes, and gives *blob a new id. Returns OK, or an error of version_plan() or keep_shared(). */
enum error version_begin(struct decision *d, struct bytes account, struct blob *blob);

#endif
