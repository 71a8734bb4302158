/* Locks of partitions: what became of the transaction that has locked one, and getting it out of the way.
 *
 * A commit over several partitions locks all but one, its primary, in the order of (space, key); the changes
 * wait beside each. The primary's own commit decides, and leaves a row that says so until all others are
 * settled. So one read of the primary tells what became of the transaction:
 *
 *   decided  the row is there: the locked partition is to be settled
 *   open     it is not, and the primary is as it was seen: it may still be decided
 *   dead     it is not, and the primary has changed: it never will be; roll back
 *
 * A commit that needs a partition that stays open makes it dead, by a change of the primary's version.
 * tests/rados/model/commit.pml has the rules. Any thread. */
#ifndef LAGRA_STORE_RADOS_RESOLVE_H
#define LAGRA_STORE_RADOS_RESOLVE_H

#include "store/rados/apply.h"
#include "store/rados/part_work.h"

/* How long a transaction may be open before it is in the way. */
#define RESOLVE_PATIENCE_MS 200u
#define RESOLVE_STEP_MS     4u

enum fate { FATE_OPEN, FATE_DECIDED, FATE_DEAD, FATE_ELSEWHERE, FATE_UNREADABLE };
/* The read that tells it. */
struct arrival *fate_ask(struct shards *shards, const struct partition_lock *lock);
/* Once it has come. FATE_ELSEWHERE: the primary is in another shard, to be asked again. *ret_primary: its header, if not
 * NULL; keys point into the answer. */
enum fate fate_told(struct shards *shards, const struct arrival *asked,
                    const struct partition_lock *lock, struct partition_header *ret_primary);

/* Settles or rolls back whatever locks the partition now, if anything. The arrival tells when that is over,
 * whether or not it could be done: look at the partition again. It uses the shards until then, also if the
 * arrival is dropped. Never waits. */
struct arrival *resolve_start(struct shards *shards, const struct partition *partition);

#endif
