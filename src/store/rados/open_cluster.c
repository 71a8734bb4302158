/* The engine on a cluster: store/cluster.h of builds with librados. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/log.h"
#include "store/cluster.h"
#include "store/rados/cluster_pools.h"
#include "store/rados/formats.h"
#include "store/rados/open.h"
#include "store/rados/port_librados.h"
#include "store/rados/root.h"

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

static struct pools *open_pools(const struct cluster_place *place, const char **ret_problem)
{
    struct pools *pools = xcalloc(1, sizeof *pools);

    if (!port_open_librados(place->conf, place->records, &pools->records, ret_problem)) {
        free(pools);
        return NULL;
    }
    pools->pieces = pools->records;
    if (strcmp(place->pieces, place->records) == 0 ||
        port_open_librados(place->conf, place->pieces, &pools->pieces, ret_problem))
        return pools;
    port_close_librados(pools->records);
    free(pools);
    return NULL;
}

static void warn(const char *sentence)
{
    log_line(LOG_WARN, "rados: %s", sentence);
}

/* In tests a newer program is this one, that says so. */
static uint32_t format_known(void)
{
#ifdef LAGRA_GATES
    const char *asked = getenv("LAGRA_RADOS_FORMAT");

    if (asked)
        return (uint32_t)strtoul(asked, NULL, 10);
#endif
    return FORMAT_NEWEST;
}

#ifdef LAGRA_GATES
/* 0: nothing was asked for. */
static uint32_t asked(const char *name)
{
    const char *number = getenv(name);

    return number ? (uint32_t)strtoul(number, NULL, 10) : 0;
}

/* Tests wait for no day: all that is done after a while is done after so many milliseconds. And they have no partitions of 50,000
 * rows: large ones get limbs at fewer. */
static void hurry(struct rados_options *options)
{
    unsigned ms = asked("LAGRA_RADOS_PATIENCE_MS");

    options->dead_ms = ms;
    options->grace_ticks = options->again_ticks = ms * (TICKS_PER_SECOND / 1000);
    options->cut_rows = asked("LAGRA_RADOS_CUT");
}
#endif

/* That a shard may have; tests split smaller ones. decision: 760 */
static uint32_t split_rows(void)
{
    const char *rows = getenv("LAGRA_RADOS_SPLIT");

    return rows ? (uint32_t)strtoul(rows, NULL, 10) : RADOS_SPLIT_ROWS;
}

static enum store_result open_place(const struct cluster_place *place, void (*failed)(void),
                                    struct store **ret_store, const char **ret_problem)
{
    struct cluster_findings findings = { .say = warn };
    struct pools *pools = NULL;
    struct rados_options options;
    enum store_result result;

    if (cluster_pools(place, POOLS_CHECK, &findings, ret_problem))
        pools = open_pools(place, ret_problem);
    if (!pools)
        return STORE_IO;
    options = (struct rados_options){
        .records = pools->records,
        .pieces = pools->pieces,
        .pool_of_pieces = place->pieces,
        .split_rows = split_rows(),
        .format_known = format_known(),
        .closed = close_pools,
        .closed_of = pools,
        .failed = failed,
    };
#ifdef LAGRA_GATES
    hurry(&options);
#endif
    result = store_open_rados(&options, ret_store, ret_problem);
    if (result)
        close_pools(pools);
    return result;
}

enum store_result store_open_cluster(const char *where, void (*failed)(void),
                                     struct store **ret_store, const char **ret_problem)
{
    struct cluster_place place;
    enum store_result result;

    if (!cluster_place_read(where, &place, ret_problem))
        return STORE_IO;
    result = open_place(&place, failed, ret_store, ret_problem);
    cluster_place_release(&place);
    return result;
}

static enum store_result init_place(const struct cluster_place *place, bool is_unsafe,
                                    struct cluster_findings *findings, const char **ret_problem)
{
    struct port *port;
    enum store_result result;

    if (!cluster_pools(place, POOLS_MAKE, findings, ret_problem))
        return STORE_IO;
    if (findings->count > 0 && !is_unsafe) {
        *ret_problem = "these settings may lose data; --unsafe takes them as they are";
        return STORE_IO;
    }
    if (!port_open_librados(place->conf, place->records, &port, ret_problem))
        return STORE_IO;
    result = root_make(port, place->pieces, ret_problem);
    port_close_librados(port);
    return result;
}

enum store_result store_init_cluster(const char *where, bool is_unsafe,
                                     void (*say)(const char *sentence), const char **ret_problem)
{
    struct cluster_findings findings = { .say = say };
    struct cluster_place place;
    enum store_result result;

    if (!cluster_place_read(where, &place, ret_problem))
        return STORE_IO;
    result = init_place(&place, is_unsafe, &findings, ret_problem);
    cluster_place_release(&place);
    return result;
}

enum store_result store_raise_cluster(const char *where, unsigned *ret_format,
                                      const char **ret_problem)
{
    struct cluster_place place;
    struct port *port;
    enum store_result result = STORE_IO;

    *ret_format = format_known();
    if (!cluster_place_read(where, &place, ret_problem))
        return STORE_IO;
    if (port_open_librados(place.conf, place.records, &port, ret_problem)) {
        result = root_check(port, place.pieces, ret_problem);
        if (!result)
            result = format_raise(port, *ret_format, ret_problem);
        port_close_librados(port);
    }
    cluster_place_release(&place);
    return result;
}
