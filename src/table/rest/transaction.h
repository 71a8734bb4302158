/* Entity Group Transaction: up to 100 writes to entities of one partition, all or none of them, or
 * one query (service/batch.h). */
#ifndef LAGRA_TABLE_REST_TRANSACTION_H
#define LAGRA_TABLE_REST_TRANSACTION_H

#include "service/batch.h"

/* rest: Performing-Entity-Group-Transactions */
#define TRANSACTION_PARTS_MAX 100u

struct entity_group_transaction_parameters {
    struct batch_parameters base;
    struct bytes changeset; /* of the writes' answers; ptr NULL: there is one query */
    size_t admitted;        /* parts */
    const struct call *parts[TRANSACTION_PARTS_MAX]; /* those that were admitted */
};
OPERATION_DECLARE_BATCH(entity_group_transaction);

#endif
