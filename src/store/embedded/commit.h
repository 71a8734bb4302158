/* Commits. The batch (batch.h) is created first; then the spaces and the stripes of all parts are
 * locked, each in ascending order; then every part is compared with its snapshot, and the batch is
 * written. No lock is held while waiting for RocksDB or the disk. */
#ifndef LAGRA_STORE_EMBEDDED_COMMIT_H
#define LAGRA_STORE_EMBEDDED_COMMIT_H

#include "store/embedded/keyspace.h"
#include "store/embedded/spaces.h"
#include "store/store_private.h"

struct embedded;

/* For the table of operations. */
enum store_result embedded_commit(struct store *store, const struct commit_part *parts,
                                  size_t count, instant now, struct store_access access,
                                  uint64_t *ret_sequence);
/* store_hold_space(), store_release_space() */
bool embedded_hold_space(struct store *store, const struct guid *space);
void embedded_release_space(struct store *store, const struct guid *space);
enum store_result embedded_delete_row(struct store *store, const struct guid *space,
                                      struct bytes key);
void embedded_checkpoint_clock(struct store *store);
/* For the collector: commits to a partition of a dropped space, which no other thread changes. Both
 * return STORE_CONFLICT if the drop was undone. */
enum store_result commit_collected(struct embedded *embedded, struct bytes partition_prefix,
                                   const struct space_drop *drop, struct changes *changes);
/* The same for rows of the space that belong to no partition. is_last: the space is then fully
 * collected */
enum store_result commit_collected_rows(struct embedded *embedded, const struct space_drop *drop,
                                        rocksdb_writebatch_t *writes, bool is_last);
/* Writes rows, under the locks that the caller needs. If RocksDB lacks descriptors or memory for
 * them, they are refused before they reach the log.
 *
 * Returns STORE_OK
 *         STORE_WAIT, STORE_SHORTAGE  nothing has been written
 *         STORE_IO  final; the caller calls embedded_fail() once it holds no lock */
enum store_result commit_write_rows(struct embedded *embedded, rocksdb_writebatch_t *writes);

#endif
