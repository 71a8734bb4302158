/* Counters of spaces. A commit writes what it adds as a merge operand of RocksDB, so that it reads
 * nothing and any number of commits may add at once; operands are added up when they are read,
 * flushed and compacted. They are in the commit's batch, so that the sum is exact after a crash. */
#ifndef LAGRA_STORE_EMBEDDED_COUNTERS_H
#define LAGRA_STORE_EMBEDDED_COUNTERS_H

#include "store/store_private.h"

/* For the table of operations. */
enum store_result embedded_count(struct store *store, const struct guid *space, struct bytes key,
                                 struct store_access access, int64_t *ret_sum,
                                 uint64_t *ret_sequence);

#endif
