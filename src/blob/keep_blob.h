/* Inside blob/ only: what becomes of a blob that is overwritten or deleted, where it is kept: a soft-deleted snapshot,
 * which Undelete Blob makes one like others, or a version (version.h). rest: Put-Blob; decisions: 790, 803 */
#ifndef LAGRA_BLOB_KEEP_BLOB_H
#define LAGRA_BLOB_KEEP_BLOB_H

#include "blob/retention.h"
#include "blob/uncommitted.h"

/* The base *was becomes a snapshot or a version, with its content: the caller deletes its record, or writes another
 * content there.
 * deletion  its deletion; at 0: it is not soft-deleted
 * returns   OK, E_SnapshotCountExceeded */
enum error keep_state(struct decision *d, const struct blob *was, struct blob_ref ref,
                      const struct blob_deletion *deletion);
/* Puts `content` in the place of that of the blob that there is, which stays as keep_state() says.
 *
 * blob     to be written by the caller; its content was made in these changes of `blocks`, of which some may be
 *          the old one's; brought up to date
 * blocks   NULL: of bytes that are no blocks
 * returns  OK, E_SnapshotCountExceeded, as decision_fail_content() */
enum error keep_replaced(struct decision *d, struct blob *blob, const struct named_blocks *blocks,
                         struct blob_ref ref, const struct blob_deletion *deletion);
/* The same as a snapshot that is soft-deleted. retention: keeps what is deleted */
enum error keep_overwritten(struct decision *d, struct blob *blob,
                            const struct named_blocks *blocks, const struct retention *retention);
/* What was soft-deleted under the name where `blob`, which the caller writes, is made: becomes a snapshot, for as
 * long as it is kept, or from now on if the account keeps what is deleted now; of a blob of another type all of it
 * goes for good, unless `any_type`. returns OK, as keep_overwritten(), E_ServerBusy */
enum error keep_undeleted(struct decision *d, struct blob *blob, bool any_type,
                          struct bytes account);
/* Contents of `count` snapshots or versions that share the bytes of *base, which stays: it is brought up to date. The
 * oldest comes first. Once in one list of changes.
 * returns OK, as keep_replaced() */
enum error keep_shared(struct decision *d, struct content *base, unsigned count,
                       struct content ret_kept[]);
/* A base as its record is written for a snapshot or version of it. */
struct blob keep_record(const struct blob *base, struct blob_ref ref);
/* Is the blob there only because a copy to it is pending? */
bool is_place_of_copy(const struct blob *blob);

#endif
