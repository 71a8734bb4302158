/* A pool of threads that may wait for a disk, so that HTTP workers need not. It repeats decisions
 * that did not find a record in memory (STORE_MAY_BLOCK), runs long computations, and reads parts
 * of a content's map while it is sent. Each exchange has at most one job in the queue.
 *
 * Accounts take turns, as on a worker, so an account with many jobs delays others by one job at a
 * time. decision: 785
 *
 * In a pool whose jobs wait for other machines, each owner may use only a share of the threads, so
 * that a slow sender cannot occupy all of them. decision: 284 */
#ifndef LAGRA_SERVICE_DECIDE_POOL_H
#define LAGRA_SERVICE_DECIDE_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

/* Owner that a job is counted for, as hashes of names; 0 if none */
struct pool_owner {
    uint64_t account;
    uint64_t source; /* source that the job waits for, within the account */
};
/* Returns a number for a name within an owner (0 if none). Never returns 0. */
uint64_t pool_owner_number(uint64_t within, struct bytes name);

/* Embedded in a structure of its submitter. The pool does not access it after calling run(), which
 * may submit it again or free that structure. */
struct pool_job {
    void (*run)(struct pool_job *job); /* on a thread of the pool */
    struct pool_owner owner;           /* its source is used if the pool has shares */
    struct pool_job *next;             /* used by the pool while the job is queued */
};

struct decision_pool;

/* Maximum number of threads that run jobs of one owner at the same time; 0 for no limit. */
struct pool_shares {
    unsigned account, source;
};

/* Creates a pool that starts up to threads_max (1..64) threads on demand. Returns NULL if no thread
 * can be started. Called on the main thread. */
struct decision_pool *decision_pool_new(unsigned threads_max, struct pool_shares shares);
/* Waits until all jobs have run; the caller must submit no more. Called on the main thread, after
 * the servers have stopped and before the store is closed. */
void decision_pool_free(struct decision_pool *pool);
/* Returns true if one more job of this owner may be queued, given `places` slots in total. An
 * account may have as many jobs queued as slots remain free, and each of its sources half as many,
 * so other accounts always find a slot. Thread-safe. */
bool decision_pool_has_capacity(struct decision_pool *pool, const struct pool_owner *owner,
                                unsigned places);
/* Queues a job. Jobs of an account run in the order of submission; a job whose owner already uses
 * its share waits until another job of that owner ends. Thread-safe. */
void decision_pool_submit(struct decision_pool *pool, struct pool_job *job);

#endif
