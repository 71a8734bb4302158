/* Opens the store: see open_store.h. */
#include "server/open_store.h"

#include <stdio.h>
#include <stdlib.h>

#include "server/process.h"
#include "store/states.h"

struct store *open_store(const struct options *options)
{
    /* Files named on the command line may be in the data directory before a store exists there, as
     * with `azurite --location data --debug data/debug.log`. */
    const char *const named[] = {
        options->debug_path,
        options->access_log_path,
        options->audit_log_path,
        options->cert_path,
        options->key_path,
        options->accounts_path,
        options->oauth_keys_path,
        options->oauth_roles_path,
        options->fetcher.ca_path,
        options->seed.path,
        "/dev/stdout",
        "/dev/stderr",
    };
    const char *known_files[sizeof named / sizeof named[0] + 1];
    size_t known_count = 0;
    struct store_options store_options = {
        .location = options->location,
        .known_files = known_files,
        .disk_reserve = (uint64_t)options->disk_reserve_mib << 20,
        .failed = ending_store_failed,
        .sync = true,
    };
    const char *problem = "";
    struct store *store = NULL;

    if (options->in_memory)
        return store_open_memory();
#ifdef LAGRA_GATES
    store_options.sync = !getenv("LAGRA_UNSAFE_NO_SYNC");
#endif
    ending_keep_reading(options->keep_reading);
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        if (named[i])
            known_files[known_count++] = named[i];
    }
    known_files[known_count] = NULL;
    if (store_open_embedded(&store_options, &store, &problem)) {
        fprintf(stderr, "lagra: cannot open the data directory %s: %s\n", options->location,
                problem);
        return NULL;
    }
    return store;
}

struct store *open_secondary(const struct options *options, struct store *store)
{
    uint64_t lag_ticks = options->secondary_lag_ms * (TICKS_PER_SECOND / 1000);

    return lag_ticks > 0 ? store_open_lagging(store, lag_ticks) : NULL;
}
