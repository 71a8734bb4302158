/* Commits. The batch (batch.h) is made first; then the spaces of all parts are locked, then their
 * stripes, both in the order of their numbers; then every part is compared with its snapshot and
 * the batch is written. No lock is held while RocksDB or the disk is waited for. */
#ifndef LAGRA_STORE_EMBEDDED_COMMIT_H
#define LAGRA_STORE_EMBEDDED_COMMIT_H

#include "store/embedded/keyspace.h"
#include "store/store_private.h"

struct embedded;

/* For the table of operations. */
enum store_result embedded_commit(struct store *store, const struct commit_part *parts,
                                  size_t count, instant now, struct store_access access,
                                  uint64_t *ret_sequence);
enum store_result embedded_delete_row(struct store *store, struct bytes key);
void embedded_checkpoint_clock(struct store *store);
/* The collector's: to a partition of a dropped space, which nobody else changes. */
enum store_result commit_collected(struct embedded *embedded, struct bytes partition_prefix,
                                   const struct guid *space, struct changes *changes);
/* Rows that belong to no partition and that nobody else changes. */
enum store_result commit_rows(struct embedded *embedded, rocksdb_writebatch_t *writes);

#endif
