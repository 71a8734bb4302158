/* The rows that say which partitions of a shard are locked, so that who reads many of them sees it: a slot for
 * each hash. Of two partitions of one transaction with the same hash the second takes the next slot that is free of its
 * own: it would wait for the first one's else, until somebody finds that the transaction is in the way (decision 843). So
 * who frees a slot looks for the one that names the partition. Any thread.
 *
 *   slot  empty: none; else, with a CRC-32C behind it (shard_rows.h), 4 incarnation, 8 number of the transaction,
 *         key of the partition */
#ifndef LAGRA_STORE_RADOS_SLOT_H
#define LAGRA_STORE_RADOS_SLOT_H

#include "store/rados/shard_rows.h"

struct slot {
    struct attempt transaction;
    struct bytes partition_key;
};
struct bytes slot_write(struct arena *arena, const struct slot *slot);
/* Points into the row. False: it is damaged. */
bool slot_read(struct bytes row, struct slot *ret_slot);

#endif
