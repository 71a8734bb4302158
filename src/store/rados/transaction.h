/* One commit of one or several partitions, from the first op to the last. resolve.h says how several are one.
 *
 * The one of a single partition is one op. Of several the others are locked one after another, in the order of
 * (space, key), limbs (limb.h) before all others, each with its changes beside it; the greatest decides. Then the answer is known; after it each is
 * settled, and the row that says that it was decided is removed. Who dies in between leaves that to whoever meets a
 * lock, and to tasks of the engine: one beside each lock, and one beside the decision. What cannot be locked makes all
 * that was locked so far as it was. */
#ifndef LAGRA_STORE_RADOS_TRANSACTION_H
#define LAGRA_STORE_RADOS_TRANSACTION_H

#include "store/rados/resolve.h"

/* A task looks after what was decided so much later. */
#define TRANSACTION_FORGET_TICKS (10 * TICKS_PER_SECOND)
/* And after a lock, whether or not its transaction was decided: by then nobody waits for it any more (patience.h). */
#define TRANSACTION_LOCK_TICKS   (30 * TICKS_PER_SECOND)

struct transaction;

/* Reported to its owner. Called once each, by threads of the port, perhaps before transaction_start() returns. */
struct transaction_owner {
    /* The result: as that of a shard_commit, never STORE_BUSY. */
    void (*decided)(struct transaction_owner *owner, enum store_result result);
    /* After that: nothing is under way any more, and the transaction is freed. */
    void (*ended)(struct transaction_owner *owner);
};

/* arena: of what it is made of and what it makes; nobody else uses it from transaction_start() until the end.
 * now: the instant at which it was decided; a version is that, or one more than the one before. */
struct transaction *transaction_new(struct shards *shards, struct arena *arena, instant now,
                                    struct transaction_owner *owner);
/* One that takes part: partition and header are copied. Returns what is to be done there: nothing yet. */
struct part_work *transaction_add(struct transaction *transaction,
                                  const struct partition *partition,
                                  const struct partition_header *seen, bool has_pieces);
/* The same of a limb, of a partition that takes part too; one that has no header is made. */
struct part_work *transaction_add_limb(struct transaction *transaction,
                                       const struct partition *limb,
                                       const struct partition_header *seen);
/* The partition that decides has limbs from now on. */
void transaction_gets_limbs(struct transaction *transaction);
/* The header that it leaves in the only partition that takes part, and links of that commit (struct shard_commit), which
 * must stay until the end. */
struct partition_header transaction_after(const struct transaction *transaction);
void transaction_link(struct transaction *transaction, struct shard_link *link,
                      struct shard_link *rests_on);
/* One that was not started. */
void transaction_drop(struct transaction *transaction);
void transaction_start(struct transaction *transaction);

#endif
