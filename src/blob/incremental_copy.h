/* Parameters and result of Incremental Copy Blob. The decisions are in incremental_copy.c; the copy
 * continues as a pending copy. rest: Incremental-Copy-Blob */
#ifndef LAGRA_BLOB_INCREMENTAL_COPY_H
#define LAGRA_BLOB_INCREMENTAL_COPY_H

#include "blob/copy_blob.h"

struct incremental_copy_blob_parameters {
    struct parameters base;
    struct copy_source *source;
    struct guid id;
    /* ---- gathered ---- */
    struct blob source_blob; /* the snapshot */
    struct bytes path;       /* path of the source's URL: the blob that the snapshot belongs to */
    struct bytes shown;      /* the source's URL without the signature */
    struct pending_source pending;
};
struct incremental_copy_blob_result {
    struct result base;
    instant version; /* 0 if the blob has no versions */
};
OPERATION_DECLARE(incremental_copy_blob);
OPERATION_DECLARE_GATHER(incremental_copy_blob);

/* Completes an incremental copy after all changed ranges were written: creates the snapshot.
 * target: the properties of the new base blob; its content is already in place */
void incremental_copy_complete(struct decision *d, const struct blob *target);
/* Ends a failed or aborted copy, which leaves the base with zero bytes (rest: Abort-Copy-Blob). The
 * snapshots remain, and the next copy copies the entire source. */
void incremental_copy_end(struct decision *d, const struct blob *target);

#endif
