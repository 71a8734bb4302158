/* Set Blob Tier: what it is asked and what comes of it. set_blob_tier.c, rest/set_blob_tier.c */
#ifndef LAGRA_BLOB_TIER_OPERATIONS_H
#define LAGRA_BLOB_TIER_OPERATIONS_H

#include "blob/blob.h"
#include "blob/tier.h"

struct set_blob_tier_parameters {
    struct parameters base;
    enum access_tier tier;
    struct rehydration rehydration; /* of an archived blob */
};
struct set_blob_tier_result {
    struct result base;
    bool is_pending; /* the blob is archived until it is rehydrated */
};
OPERATION_DECLARE(set_blob_tier);

#endif
