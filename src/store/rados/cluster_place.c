#include "store/rados/cluster_place.h"

#include <stdlib.h>

#include "base/arena.h"

bool cluster_place_read(const char *where, struct cluster_place *ret_place,
                        const char **ret_problem)
{
    char *conf = xstrdup(where), *records = strchr(conf, ':'), *pieces = NULL;

    if (records) {
        *records++ = '\0';
        pieces = strchr(records, ':');
    }
    if (pieces)
        *pieces++ = '\0';
    if (!records || !*conf || !*records || (pieces && (!*pieces || strchr(pieces, ':')))) {
        *ret_problem = "the path of a ceph.conf, a colon and the name of a pool are wanted";
        free(conf);
        return false;
    }
    *ret_place = (struct cluster_place){ conf, records, pieces ? pieces : records };
    return true;
}

void cluster_place_release(struct cluster_place *place)
{
    free(place->conf);
}
