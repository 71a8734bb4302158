/* Inside blob/ only: versions of a blob, if its account has versioning: the state that each write
 * creates has an id, and is kept when the blob is overwritten or deleted.
 *
 *                    write                 write, copy, delete
 *   (none) ------------------> current ------------------------> previous ---> gone: Delete Blob
 *                              the base                          a record      with its versionid,
 *                                                                              or soft-deleted
 *
 * (1) A version id is the time of the write, in ticks, and unique in the blob: it is greater than
 *     all previous ids of the blob, and no snapshot has that date. load_blob() keeps the clock of a
 *     decision above it.
 * (2) Previous versions and snapshots are records of the same kind, in one order; the rules for
 *     contents and generations (contents.h) apply to both.
 * (3) A blob with previous versions has a base record. A deleted base leaves an anchor, which
 *     describes the last current version without its content (blob_has_versions_only()).
 * (4) All versions of a blob are of one type.
 * (5) A state that has an id is ended only by Delete Blob with a versionid. So when versioning is
 *     turned off, the current version still becomes a previous one when it is overwritten or
 *     deleted; blobs written after that have no id, and are overwritten and deleted like
 *     unversioned ones.
 * Append Block, Put Page, Set Blob Properties, Tier and Tags change the current version in place.
 * rest: "Blob versioning"; semantics 5; decisions: 803 to 805 */
#ifndef LAGRA_BLOB_VERSION_H
#define LAGRA_BLOB_VERSION_H

#include "blob/keep_blob.h"

/* What a write does with the versions of the blob. */
struct version_change {
    bool keeps;   /* the existing base is kept: */
    instant kept; /* with this id */
    instant id;   /* of the new state; 0: it is not a version */
};
/* Returns OK, E_InvalidBlobType if the blob has versions of a type other than `type`, or an error
 * of decision_fail_store(). */
enum error version_plan(struct decision *d, const struct retention *retention, enum blob_type type,
                        struct version_change *ret_change);
/* Sets the version fields of the new state. */
void version_give(struct decision *d, const struct version_change *change, struct blob *blob);

/* Called before a change of *blob, the existing or future base: keeps a version that shares its
 * bytes, and gives *blob a new id. Returns OK, or an error of version_plan() or keep_shared(). */
enum error version_begin(struct decision *d, struct bytes account, struct blob *blob);

#endif
