/* lagra-rados is the server on a RADOS in memory (live.h) that applies ops twice and answers late: the linker turns
 * its calls to open a store into these. What was written is gone when the process ends. By the environment:
 *
 *   LAGRA_RADOS_RESENT  of so many ops one is applied twice    default 20
 *   LAGRA_RADOS_LATE    of so many answers one is late         default 10
 *   LAGRA_RADOS_SEED    of what is drawn                       default 1
 *   LAGRA_RADOS_BUSY    every partition is as one that many want    default 1
 *   LAGRA_RADOS_SPLIT   rows that a shard may have       default 0: it is not split
 *   LAGRA_RADOS_PAUSE   microseconds before each op that is applied, and each answer    default 0 */
#include <stdlib.h>

#include "live.h"
#include "store/rados/open.h"
#include "store/rados/root.h"

enum store_result __wrap_store_open_embedded(const struct store_options *options,
                                             struct store **ret_store, const char **ret_problem);
struct store *__wrap_store_open_memory(void);

static unsigned number(const char *name, unsigned otherwise)
{
    const char *value = getenv(name);

    return value ? (unsigned)strtoul(value, NULL, 10) : otherwise;
}

static void close_pool(void *of)
{
    live_free(of);
}

static enum store_result open_pool(struct store **ret_store, const char **ret_problem)
{
    struct live *live = live_new((struct fake_options){
        .seed = number("LAGRA_RADOS_SEED", 1),
        .resent = number("LAGRA_RADOS_RESENT", 20),
        .late = number("LAGRA_RADOS_LATE", 10),
    });
    const struct rados_options options = {
        .records = live_port(live),
        .pieces = live_port(live),
        .pool_of_pieces = "pool",
        .closed = close_pool,
        .closed_of = live,
        .split_rows = number("LAGRA_RADOS_SPLIT", 0),
        .is_always_busy = number("LAGRA_RADOS_BUSY", 1),
    };
    enum store_result result = root_make(options.records, options.pool_of_pieces, ret_problem);

    live_set_pause(live, number("LAGRA_RADOS_PAUSE", 0));
    return result ? result : store_open_rados(&options, ret_store, ret_problem);
}

enum store_result __wrap_store_open_embedded(const struct store_options *options,
                                             struct store **ret_store, const char **ret_problem)
{
    (void)options;
    return open_pool(ret_store, ret_problem);
}

struct store *__wrap_store_open_memory(void)
{
    struct store *store;
    const char *problem;

    if (open_pool(&store, &problem))
        abort();
    return store;
}
