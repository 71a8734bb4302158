/* The place of a store on a cluster, as --store names it behind "rados:". */
#ifndef LAGRA_STORE_RADOS_CLUSTER_PLACE_H
#define LAGRA_STORE_RADOS_CLUSTER_PLACE_H

#include <stdbool.h>

struct cluster_place {
    char *conf;                   /* path; begins what was allocated */
    const char *records, *pieces; /* names of pools; may be one */
};
/* False: it is no such place; *ret_problem says what is one. Else the caller releases it. */
bool cluster_place_read(const char *where, struct cluster_place *ret_place,
                        const char **ret_problem);
void cluster_place_release(struct cluster_place *place);

#endif
