/* Incremental Copy Blob: what it is asked, and what comes of it. incremental_copy.c decides; the
 * copy goes on as a pending copy. rest: Incremental-Copy-Blob */
#ifndef LAGRA_BLOB_INCREMENTAL_COPY_H
#define LAGRA_BLOB_INCREMENTAL_COPY_H

#include "blob/copy_blob.h"

struct incremental_copy_blob_parameters {
    struct parameters base;
    struct copy_source *source;
    struct guid id;
    /* ---- gathered ---- */
    struct blob source_blob; /* the snapshot */
    struct bytes path;       /* of the source's URL: the blob of which it is a snapshot */
    struct bytes shown;      /* its URL without a signature */
    struct pending_source pending;
};
struct incremental_copy_blob_result {
    struct result base;
    instant version; /* 0 if the blob has no versions */
};
OPERATION_DECLARE(incremental_copy_blob);
OPERATION_DECLARE_GATHER(incremental_copy_blob);

/* All differences are in the content: a snapshot of it is taken. target: the base as it is now, but
 * for its content. */
void incremental_copy_complete(struct decision *d, const struct blob *target);
/* It ends without, as an aborted copy does with zero bytes (rest: Abort-Copy-Blob): the snapshots
 * stay, the next copy takes all of its source. */
void incremental_copy_end(struct decision *d, const struct blob *target);

#endif
