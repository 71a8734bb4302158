/* What a commit rests on that is not durable yet, and those that rest on it. decision: 561
 *
 * A commit of one partition that changes records and counters alone goes to its shard behind the one that it rests
 * on, and leaves a state for the next (pending.h), if many want the partition. Every other commit stands apart: it
 * waits until what it rests on is durable, and those that come after it to the same partitions wait for it. Only those
 * of the first kind do, and those of the second wait only for earlier ones, so nobody waits in a circle. */
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
    bool is_behind; /* it does not rest on what is awaited, and goes on whatever becomes of that */
    bool is_apart;  /* others may wait for it */
};

/* returns STORE_OK        it may start once what is awaited is durable
 *         STORE_CONFLICT  what it was decided on will not be: decide again */
enum store_result resting_begin(const struct resting_commit *commit, struct resting *ret_resting);
/* It has ended, whatever became of it. Of each of its partitions, before the sequence is ended. is_kept: as of pending_end() */
void resting_end(struct rados *rados, const struct partition *partition, uint64_t sequence,
                 const struct resting *resting, bool is_kept);
/* After that. */
void resting_release(struct resting *resting);

#endif
