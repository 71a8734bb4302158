/* What a commit rests on that is not durable yet, and those that rest on it. decision: 561
 *
 * A commit of one partition that changes records and counters alone goes to its shard behind the one that it rests
 * on, and leaves a state for the next (pending.h), if many want the partition. Every other commit waits until what it
 * rests on is durable, and nobody is given that state meanwhile: so it gets its turn. */
#ifndef LAGRA_STORE_RADOS_RESTING_H
#define LAGRA_STORE_RADOS_RESTING_H

#include "store/rados/rados_private.h"
#include "store/rados/transaction.h"

/* A commit that is about to start. */
struct resting_commit {
    struct rados *rados;
    const struct commit_part *parts;
    size_t count;
    struct store_access access;
    struct transaction *transaction;
    const struct part_work
        *work; /* of the first part; NULL: one of records and counters alone is not all it is */
    uint64_t sequence;
};

struct resting {
    struct shard_link *link, *rests_on; /* NULL: none */
    uint64_t awaited;                   /* sequence; 0: nothing */
};

/* returns STORE_OK        it may start once what is awaited is durable
 *         STORE_CONFLICT  what it was decided on will not be: decide again */
enum store_result resting_begin(const struct resting_commit *commit, struct resting *ret_resting);
/* It has ended, whatever became of it. */
void resting_end(struct rados *rados, const struct partition *partition, struct resting *resting);

#endif
