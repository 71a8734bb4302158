/* Opens the store: see open_store.h. */
#include "server/open_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cluster/folder.h"
#include "server/process.h"
#include "base/log.h"
#include "store/keyring.h"
#include "store/states.h"

/* Ciphers contain keys. A limit of 1 also prevents the kernel from starting a program that
 * handles core dumps. man: core(5) */
static void forbid_core_dumps(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_CORE, &limit) < 0 || limit.rlim_max == 0)
        return;
    limit.rlim_cur = 1;
    (void)setrlimit(RLIMIT_CORE, &limit);
}

bool read_master_keys(const char *path, struct master_keys **ret_keys)
{
    const char *problem = NULL;

    *ret_keys = path ? master_keys_read(path, &problem) : NULL;
    if (problem)
        fprintf(stderr, "lagra: %s\n", problem);
    else if (path)
        forbid_core_dumps();
    return !problem;
}

/* Returns true if the file is in the folder, or below it. */
static bool lies_in(const char *file, const char *folder)
{
    char *real_file = realpath(file, NULL), *real_folder = realpath(folder, NULL);
    size_t length = real_folder ? strlen(real_folder) : 0;
    bool lies = real_file && real_folder && strncmp(real_file, real_folder, length) == 0 &&
                real_file[length] == '/';

    free(real_file);
    free(real_folder);
    return lies;
}

/* Reads the keys of a server. A key next to the data that it encrypts protects nothing. */
static bool read_keys(const struct options *options, struct master_keys **ret_keys)
{
    const char *path = options->encryption_key_path;

    if (path && lies_in(path, options->location)) {
        fprintf(stderr,
                "lagra: the encryption keys in %s must not be in the data directory, where they "
                "protect nothing\n",
                path);
        return false;
    }
    return read_master_keys(path, ret_keys);
}

/* Returns the data directory from which a new one takes its store keys, allocated with malloc():
 * all cells of a cluster have those of cell 1. NULL means it creates its own. decision: 1456 */
static char *keys_model(const struct options *options)
{
    char *root = options->cluster ? cluster_data_path(options->cluster, CLUSTER_ROOT) : NULL;

    if (root && strcmp(root, options->location) == 0) {
        free(root);
        root = NULL;
    }
    return root;
}

/* Opens the directory on disk. */
static struct store *open_directory(const struct options *options,
                                    struct store_options *store_options)
{
    char *keys_from = keys_model(options);
    struct master_keys *keys = NULL;
    struct store *store = NULL;
    const char *problem = "";

    store_options->keys_from = keys_from;
    if (read_keys(options, &keys)) {
        store_options->master_keys = keys;
        if (store_open_embedded(store_options, &store, &problem))
            fprintf(stderr, "lagra: cannot open the data directory %s: %s\n", options->location,
                    problem);
        else if (store_keyring(store))
            log_line(LOG_INFO, "the data directory is encrypted at rest");
    }
    master_keys_free(keys);
    free(keys_from);
    return store;
}

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
    return open_directory(options, &store_options);
}

struct store *open_secondary(const struct options *options, struct store *store)
{
    uint64_t lag_ticks = options->secondary_lag_ms * (TICKS_PER_SECOND / 1000);

    return lag_ticks > 0 ? store_open_lagging(store, lag_ticks) : NULL;
}
