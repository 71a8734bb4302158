/* Internal to blob/: a copy that continues after the response to its request. Its record is in the
 * partition of the destination until the copy ends; a deferred task resumes the copy after a
 * restart. rest: Copy-Blob
 *
 *   INNER "Y"   as in source/pending_source.h, with the future destination blob except its content
 *               (for a page blob, with the content copied so far); then the snapshot that an
 *               incremental copy is based on, and the account of the destination (bytes; absent:
 *               the account of the source) */
#ifndef LAGRA_BLOB_PENDING_COPY_H
#define LAGRA_BLOB_PENDING_COPY_H

#include "blob/blob.h"
#include "service/deferred_tasks.h"
#include "source/copied_bytes.h"
#include "source/pending_source.h"

/* A kind of deferred task. Stored: never reuse the number. */
enum { TASK_COPY_BLOB = 0x102 };

struct pending_copy {
    struct pending_source source; /* must be first */
    instant previous;             /* snapshot that an incremental copy is based on; 0: none */
    struct bytes account;         /* of the destination */
    /* destination blob; target.copy holds the progress at the last (re)start */
    struct blob target;
};

/* Returns STORE_OK, STORE_NOT_FOUND, or an error of the store. */
enum store_result pending_copy_read(struct read_view *before, struct arena *arena,
                                    struct pending_copy *ret_pending);
void pending_copy_write(struct changes *changes, struct arena *arena,
                        const struct pending_copy *pending);
void pending_copy_delete(struct changes *changes);
/* Writes the record, with `begun`, and schedules the start of the copy. */
void copy_defer(struct decision *d, struct pending_copy *pending);

/* ---- progress and end of a copy: each works on the current state ---- */

/* Checks that the copy with this id is still pending, and reads the blob into the decision's state
 * and the record into *ret_pending. The decision needs only store, access, arena, before, changes,
 * now and problem.
 *
 * Returns OK, E_NoPendingCopyOperation, or an error of a read. */
enum error copy_find(struct decision *d, const struct guid *id, struct pending_copy *ret_pending);
/* Ends the copy as failed if a policy or legal hold of the container now protects the destination,
 * and the copy did not create it. Changes nothing else of the blob. Then *ret_refusal is the error
 * of the policy or the hold, otherwise OK. Called before the next three.
 *
 * Returns OK, or an error of decision_fail_store(). */
enum error copy_permit(struct decision *d, const struct pending_copy *pending,
                       enum error *ret_refusal);
/* Records the bytes copied so far (of a page blob copy_pages() does that) and the last error
 * (empty: none). */
void copy_progress(struct decision *d, uint64_t copied, struct bytes description);
/* Stores part of a page blob in content that is not visible yet (pending->target).
 *
 * Returns OK, E_ServerBusy if another part is expected, or an error of decision_fail_content(). */
enum error copy_pages(struct decision *d, struct pending_copy *pending,
                      const struct copied_step *step);
/* Completes the copy: gives the destination its new content and properties. The bytes of page blobs
 * were stored by copy_pages(). */
enum error copy_complete(struct decision *d, const struct pending_copy *pending,
                         const struct body *body, const struct copied_bytes *bytes);
/* Ends the copy without its bytes: the destination is empty and has the metadata of the request. If
 * it is protected (copy_permit()), it remains unchanged, except for the copy's status. rest:
 * Abort-Copy-Blob; decision: 1450 */
enum error copy_end(struct decision *d, const struct pending_copy *pending, enum copy_status status,
                    struct bytes description);

#endif
