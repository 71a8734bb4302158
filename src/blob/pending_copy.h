/* Inside blob/ only: a copy that goes on after its request was answered: what is left to do, kept
 * in the partition of the destination until it is done, and a
 * deferred task begins it again after a restart. rest: Copy-Blob
 *
 *   INNER 'Y'   1 version (1), 16 copy id, begun, flags u8 (1 the source is this server's own), URL
 *               of the source (bytes), account that reads it (bytes), ETag of the source (bytes),
 *               record of the blob as it will be but for its content (bytes): of a page blob with
 *               what is there of it, snapshot of the source that an incremental copy differs
 *               from */
#ifndef LAGRA_BLOB_PENDING_COPY_H
#define LAGRA_BLOB_PENDING_COPY_H

#include "blob/blob.h"
#include "service/deferred_tasks.h"

/* Of the list of deferred tasks; stored: never given to anything else. */
enum { TASK_COPY_BLOB = 0x102 };

struct pending_copy {
    struct guid id;
    instant begun;
    bool is_own;
    struct bytes url;     /* with what authorizes the read */
    struct bytes account; /* of an own source: whose blob it is */
    struct bytes etag;    /* of the source when the copy began; ptr NULL: it has none */
    instant previous;     /* of an incremental one: what it differs from; 0: a hole */
    struct blob target;   /* its copy says how far it came when it began */
};

/* returns STORE_OK, STORE_NOT_FOUND, or as the store */
enum store_result pending_copy_read(struct snapshot *before, struct arena *arena,
                                    struct pending_copy *ret_pending);
void pending_copy_write(struct changes *changes, struct arena *arena,
                        const struct pending_copy *pending);
void pending_copy_delete(struct changes *changes);
/* Writes it, and sees to it that it is begun. */
void copy_defer(struct decision *d, const struct pending_copy *pending);

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
struct copied_bytes;
struct copied_pages {
    uint64_t from, to; /* the part of the source */
    uint64_t length;   /* of the source */
    const struct body *body;
    const struct copied_bytes *bytes;
};
enum error copy_pages(struct decision *d, struct pending_copy *pending,
                      const struct copied_pages *pages);
/* The bytes are there (of a page blob: by copy_pages()): the destination becomes what it is to
 * be. */
enum error copy_complete(struct decision *d, const struct pending_copy *pending,
                         const struct body *body, const struct copied_bytes *bytes);
/* It ends without them: the destination has no bytes, and the metadata that it was to have.
 * rest: Abort-Copy-Blob */
enum error copy_end(struct decision *d, const struct pending_copy *pending, enum copy_status status,
                    struct bytes description);

#endif
