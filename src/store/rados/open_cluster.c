/* The engine on a cluster: store_open_cluster() of builds with librados. */
#include <stdlib.h>

#include "base/arena.h"
#include "store/rados/open.h"
#include "store/rados/port_librados.h"

struct pools {
    struct port *records, *pieces; /* may be one */
};

static void close_pools(void *of)
{
    struct pools *pools = of;

    if (pools->pieces != pools->records)
        port_close_librados(pools->pieces);
    port_close_librados(pools->records);
    free(pools);
}

static bool open_pools(const char *conf, const char *records, const char *pieces,
                       struct pools *pools, const char **ret_problem)
{
    if (!port_open_librados(conf, records, &pools->records, ret_problem))
        return false;
    pools->pieces = pools->records;
    if (!pieces || port_open_librados(conf, pieces, &pools->pieces, ret_problem))
        return true;
    port_close_librados(pools->records);
    return false;
}

enum store_result store_open_cluster(const char *where, struct store **ret_store,
                                     const char **ret_problem)
{
    char *conf = xstrdup(where);
    char *records = strchr(conf, ':'), *pieces = records ? strchr(records + 1, ':') : NULL;
    struct pools *pools = xcalloc(1, sizeof *pools);
    enum store_result result = STORE_IO;

    *ret_problem = "a file, a colon and the name of a pool are wanted";
    if (records)
        *records++ = '\0';
    if (pieces)
        *pieces++ = '\0';
    if (records && *records && open_pools(conf, records, pieces, pools, ret_problem)) {
        const struct rados_options options = {
            .records = pools->records,
            .pieces = pools->pieces,
            .closed = close_pools,
            .closed_of = pools,
        };

        result = store_open_rados(&options, ret_store, ret_problem);
        if (result)
            close_pools(pools);
    } else {
        free(pools);
    }
    free(conf);
    return result;
}
