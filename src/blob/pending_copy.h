/* Inside blob/ only: a copy that goes on after its request was answered: what is left to do, kept
 * in the partition of the destination until it is done, and a
 * deferred task begins it again after a restart. rest: Copy-Blob
 *
 *   INNER "Y"   as source/pending_source.h has it: with the record of the blob as it will be but for its
 *               content, of a page blob with what is there of it; then the snapshot of the source that an
 *               incremental copy differs from, and the account of the destination (bytes; absent: that
 *               of the source) */
#ifndef LAGRA_BLOB_PENDING_COPY_H
#define LAGRA_BLOB_PENDING_COPY_H

#include "blob/blob.h"
#include "service/deferred_tasks.h"
#include "source/copied_bytes.h"
#include "source/pending_source.h"

/* Of the list of deferred tasks; stored: never given to anything else. */
enum { TASK_COPY_BLOB = 0x102 };

struct pending_copy {
    struct pending_source source; /* first */
    instant previous;             /* of an incremental one: what it differs from; 0: a hole */
    struct bytes account;         /* of the destination */
    struct blob target;           /* its copy says how far it came when it began */
};

/* returns STORE_OK, STORE_NOT_FOUND, or as the store */
enum store_result pending_copy_read(struct snapshot *before, struct arena *arena,
                                    struct pending_copy *ret_pending);
void pending_copy_write(struct changes *changes, struct arena *arena,
                        const struct pending_copy *pending);
void pending_copy_delete(struct changes *changes);
/* Writes it, with `begun`, and sees to it that it is begun. */
void copy_defer(struct decision *d, struct pending_copy *pending);

/* ---- what becomes of it: each on the state as it is now ---- */

/* Is the copy of this id still pending? Reads the blob and what is left to do into the decision's
 * state and *ret_pending. A decision made by hand: store, access, arena, before, changes, now,
 * problem.
 * returns OK, E_NoPendingCopyOperation, as a read */
enum error copy_find(struct decision *d, const struct guid *id, struct pending_copy *ret_pending);
/* Shows how many bytes there are (of a page blob copy_pages() says it), and what went wrong last
 * (empty: nothing). */
void copy_progress(struct decision *d, uint64_t copied, struct bytes description);
/* Of a page blob a part is there, in a content that nobody sees yet: it lies in pending->target.
 * returns OK, E_ServerBusy: another part is expected, as decision_fail_content() */
enum error copy_pages(struct decision *d, struct pending_copy *pending,
                      const struct copied_step *step);
/* The bytes are there (of a page blob: by copy_pages()): the destination becomes what it is to
 * be. */
enum error copy_complete(struct decision *d, const struct pending_copy *pending,
                         const struct body *body, const struct copied_bytes *bytes);
/* It ends without them: the destination has no bytes, and the metadata that it was to have.
 * rest: Abort-Copy-Blob */
enum error copy_end(struct decision *d, const struct pending_copy *pending, enum copy_status status,
                    struct bytes description);

#endif
