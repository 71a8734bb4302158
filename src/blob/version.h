/* Inside blob/ only: versions of a blob, where its account has them: each state that a write leaves has an id, and stays
 * when the next one takes its place, or the blob is deleted.
 *
 *                    write                 write, copy, delete
 *   (none) ------------------> current ------------------------> previous ---> gone: Delete Blob with its versionid,
 *                              the base                          a record      softly if the account keeps what is deleted
 *
 * (1) A version id is the time of the write, in ticks, and unique in the blob: it is above all ids that the blob gave
 *     before, and no snapshot has the date. load_blob() keeps the clock of a decision above it.
 * (2) Previous versions and snapshots are records of the same kind, in one order; what is said of contents and of
 *     generations (contents.h) is true of both.
 * (3) While there is a previous version, there is a base. One that is deleted leaves an anchor, which says what the
 *     last current version was, without its content (blob_has_versions_only()).
 * (4) All versions of a blob are of one type.
 * (5) Only Delete Blob with a versionid ends a state that has an id. So where versions are switched off, the current
 *     one stays as a previous one when it is overwritten or deleted; what is written from then on has no id, and is
 *     overwritten and deleted as if there were none.
 * Append Block, Put Page, Set Blob Properties, Tier and Tags change the current version in its place.
 * rest: "Blob versioning"; semantics 5; decisions: 803 to 805 */
#ifndef LAGRA_BLOB_VERSION_H
#define LAGRA_BLOB_VERSION_H

#include "blob/keep_blob.h"

/* What a write makes of the base that there is, if there is one, and of what takes its place. */
struct version_change {
    bool keeps;   /* what there is stays: */
    instant kept; /* under this id */
    instant id;   /* of what is written; 0: it is no version */
};
/* returns OK, E_InvalidBlobType: there are versions of another type than `type`; as decision_fail_store() */
enum error version_plan(struct decision *d, const struct retention *retention, enum blob_type type,
                        struct version_change *ret_change);
/* Of what takes the place: its id, and those that were given. */
void version_give(struct decision *d, const struct version_change *change, struct blob *blob);

/* Before a change of *blob, which is the base as it is, or, where there is none, as it will be: keeps a version that
 * shares its bytes, and gives it an id. returns OK, as version_plan(), keep_shared() */
enum error version_begin(struct decision *d, struct bytes account, struct blob *blob);

#endif
