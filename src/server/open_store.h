/* Opens the store that the options name. */
#ifndef LAGRA_SERVER_OPEN_STORE_H
#define LAGRA_SERVER_OPEN_STORE_H

#include "server/options.h"
#include "store/store.h"

/* Reads the master keys in a file (--encryptionKey). path: NULL means none, *ret_keys is NULL then.
 * Afterwards, the process leaves no core dumps. Returns false after printing why on stderr. */
bool read_master_keys(const char *path, struct master_keys **ret_keys);
/* Opens the store. Returns NULL after printing why on stderr. Main thread. */
struct store *open_store(const struct options *options);
/* Opens the lagging view that the secondary endpoints show; closed before the store. Returns NULL
 * if they show current data. */
struct store *open_secondary(const struct options *options, struct store *store);

#endif
