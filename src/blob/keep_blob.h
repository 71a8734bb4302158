/* Inside blob/ only: what becomes of a blob that is overwritten, where it is kept: a soft-deleted snapshot, which
 * Undelete Blob makes one like others. rest: Put-Blob; decision: 790 */
#ifndef LAGRA_BLOB_KEEP_BLOB_H
#define LAGRA_BLOB_KEEP_BLOB_H

#include "blob/retention.h"
#include "blob/uncommitted.h"

/* Puts `content` in the place of that of the blob that there is, which stays with a snapshot.
 *
 * blob       to be written by the caller; its content was made in these changes of `blocks`, of which some may be
 *            the old one's; brought up to date
 * blocks     NULL: of bytes that are no blocks
 * retention  keeps what is deleted
 * returns    OK, E_SnapshotCountExceeded, as decision_fail_content() */
enum error keep_overwritten(struct decision *d, struct blob *blob,
                            const struct named_blocks *blocks, const struct retention *retention);
/* What was soft-deleted under the name where `blob`, which the caller writes, is made: becomes a snapshot, for as
 * long as it is kept, or from now on if the account keeps what is deleted now; of a blob of another type all of it
 * goes for good, unless `any_type`. returns OK, as keep_overwritten(), E_ServerBusy */
enum error keep_undeleted(struct decision *d, struct blob *blob, bool any_type,
                          struct bytes account);
/* Is the blob there only because a copy to it is pending? */
bool is_place_of_copy(const struct blob *blob);

#endif
