/* Blob Batch: up to 256 requests of one kind in one request (service/batch.h). */
#ifndef LAGRA_BLOB_REST_BLOB_BATCH_H
#define LAGRA_BLOB_REST_BLOB_BATCH_H

#include "service/batch.h"

struct blob_batch_parameters {
    struct batch_parameters base;
    const struct operation *kind; /* of the first part that has an operation; NULL: none so far */
};
OPERATION_DECLARE_BATCH(blob_batch);

#endif
