/* For lagra check: whether the shards of each lane follow each other without a gap. It waits for the cluster. */
#ifndef LAGRA_STORE_RADOS_INSPECT_CHAIN_H
#define LAGRA_STORE_RADOS_INSPECT_CHAIN_H

#include "store/inspect.h"
#include "store/rados/shards.h"

/* Finishes moves of partitions that were begun. names: of shards. True: there were some, so there may be more shards. */
bool chains_finish(struct shards *shards, char *const *names, size_t count);
/* names: of all shards, in order. Says which do not follow the one before, are not there, or are in no chain. */
void chains_check(struct shards *shards, char *const *names, size_t count, inspect_say *say,
                  void *context);

#endif
