/* Commits: a list of changes becomes one RocksDB batch, with the rows of the piece index that it
 * touches and the clock. */
#ifndef LAGRA_STORE_EMBEDDED_COMMIT_H
#define LAGRA_STORE_EMBEDDED_COMMIT_H

#include "store/store_private.h"

struct embedded;

/* For the table of operations. */
enum store_result embedded_commit(struct store *store, const struct commit_part *parts,
                                  size_t count, instant now, enum store_access access,
                                  uint64_t *ret_sequence);
/* The collector's: to a partition of a dropped space, which nobody else changes. */
enum store_result commit_collected(struct embedded *embedded, struct bytes partition_prefix,
                                   const struct changes *changes);
/* The collector's: the tombstone of a space whose contents are all gone. */
enum store_result commit_space_collected(struct embedded *embedded, const struct guid *space);

#endif
