/* Counters of spaces. A commit writes its addition as a merge operand of RocksDB, without reading,
 * so any number of commits may add concurrently; operands are added up when they are read, flushed
 * and compacted. They are in the commit's batch, so the sum is exact after a crash. */
#ifndef LAGRA_STORE_EMBEDDED_COUNTERS_H
#define LAGRA_STORE_EMBEDDED_COUNTERS_H

#include "store/embedded/keyspace.h"
#include "store/store_private.h"

/* For the table of operations. */
enum store_result embedded_count(struct store *store, const struct guid *space, struct bytes key,
                                 struct store_access access, int64_t *ret_sum,
                                 uint64_t *ret_sequence);
/* Like embedded_count(), in a given state in which the space is not dropped. */
enum store_result embedded_count_in(struct store *store, const rocksdb_readoptions_t *state,
                                    struct bytes key, struct store_access access, int64_t *ret_sum);

#endif
