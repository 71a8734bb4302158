/* Entity Group Transaction: up to 100 writes to entities of one partition, applied atomically, or
 * one query (service/batch.h). */
#ifndef LAGRA_TABLE_REST_TRANSACTION_H
#define LAGRA_TABLE_REST_TRANSACTION_H

#include "service/batch.h"

/* rest: Performing-Entity-Group-Transactions */
#define TRANSACTION_PARTS_MAX 100u

struct entity_group_transaction_parameters {
    struct batch_parameters base;
    struct bytes changeset; /* changeset boundary for the response; ptr NULL for a single query */
    size_t admitted;        /* number of admitted parts */
    const struct call *parts[TRANSACTION_PARTS_MAX]; /* admitted parts */
};
OPERATION_DECLARE_BATCH(entity_group_transaction);

#endif
