/* What a cluster and the settings of its pools must be for a store, asked with a bound on the time: an answer here
 * tells that the cluster can be used. Waits for the cluster. Start-up. */
#ifndef LAGRA_STORE_RADOS_CLUSTER_POOLS_H
#define LAGRA_STORE_RADOS_CLUSTER_POOLS_H

#include "store/rados/cluster_place.h"

/* No answer within so long is none. */
#define CLUSTER_PATIENCE_S "30"

enum cluster_pools_wish { POOLS_CHECK, POOLS_MAKE };

struct cluster_findings {
    /* A setting by which data may be lost, or the cluster may stop for good. */
    void (*say)(const char *sentence);
    unsigned count;
};

/* POOLS_MAKE: pools that are not there are made, in three replicas of which two must be there.
 * returns false where no store can be: the cluster does not answer, a pool is not there, or cannot have records;
 *         *ret_problem (static) */
bool cluster_pools(const struct cluster_place *place, enum cluster_pools_wish wish,
                   struct cluster_findings *findings, const char **ret_problem);

#endif
