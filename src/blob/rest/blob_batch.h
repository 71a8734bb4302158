/* Blob Batch: up to 256 requests of one kind in one (service/list.h). */
#ifndef LAGRA_BLOB_REST_BLOB_BATCH_H
#define LAGRA_BLOB_REST_BLOB_BATCH_H

#include "service/list.h"

struct blob_batch_parameters {
    struct list_parameters base;
    const struct operation *kind; /* of the first part that asked for one; NULL: none did yet */
};
OPERATION_DECLARE_LIST(blob_batch);

#endif
