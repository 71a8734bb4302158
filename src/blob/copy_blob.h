/* Parameters and results of the copy operations. The decisions are in copy_blob.c. */
#ifndef LAGRA_BLOB_COPY_BLOB_H
#define LAGRA_BLOB_COPY_BLOB_H

#include "blob/blob_operations.h"
#include "blob/pending_copy.h"
#include "blob/tier.h"
#include "source/copied_bytes.h"

struct copy_blob_parameters {
    struct parameters base;
    struct copy_source *source;
    struct guid id;
    struct bytes metadata; /* empty: copied from the source */
    struct bytes tags;     /* encoded; ptr NULL: none */
    bool copies_tags;      /* copied from the source */
    enum access_tier tier; /* TIER_NONE: absent */
    struct immutability_request immutability;
    bool may_take_long;             /* Copy Blob, not Copy Blob From URL */
    struct rehydration rehydration; /* of an archived source */
    bool seals_or_not;              /* x-ms-seal-blob is present: */
    bool seals;
    struct body_sums sums;
    /* ---- gathered ---- */
    struct blob source_blob; /* its known properties */
    uint64_t length;
    struct bytes shown; /* URL of the source without the signature */
    bool has_bytes;     /* the bytes are in the body */
    struct copied_bytes bytes;
    struct pending_source pending; /* if it may take a long time */
};
struct copy_blob_result {
    struct result base;
    enum copy_status status;
    instant version; /* its id; 0: not a version */
};
OPERATION_DECLARE(copy_blob);
OPERATION_DECLARE_GATHER(copy_blob);
OPERATION_DECLARE_GATHERED(copy_blob_from_url, copy_blob);

struct abort_copy_blob_parameters {
    struct parameters base;
    struct guid id;
};
OPERATION_NO_RESULT(abort_copy_blob);
OPERATION_DECLARE(abort_copy_blob);

#endif
