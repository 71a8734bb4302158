/* Threads that may wait for a disk, so that HTTP workers need not: what a decision did not find in memory is
 * decided again here (STORE_MAY_BLOCK), as is what takes long to compute; and parts of a content's
 * map are read here while it is sent. There are few threads, and a queue before them that is as
 * long as there are exchanges that wait: each has at most one job.
 *
 * Accounts take turns, as on a worker (net/lanes.h): one with many jobs in the queue costs another one a turn
 * each, and not all of them. decision: 785
 *
 * Where jobs wait for what others send, one who sends slowly must not hold all threads: such a pool gives
 * each owner a share of them. decision: 284 */
#ifndef LAGRA_SERVICE_DECIDE_POOL_H
#define LAGRA_SERVICE_DECIDE_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

/* Whom a job is counted for, as numbers made of names. 0: for nobody. */
struct pool_owner {
    uint64_t account;
    uint64_t source; /* of this account: what its job waits for */
};
/* Of a name; of one within something else, whose number is `within` (else 0). Not 0. */
uint64_t pool_owner_number(uint64_t within, struct bytes name);

/* Lies in what it belongs to, whose it is again when `run` is called: run() may submit it anew, and what it
 * belongs to may be gone when run() returns. */
struct pool_job {
    void (*run)(struct pool_job *job); /* on a thread of the pool */
    struct pool_owner owner;           /* its source matters where the pool has shares */
    struct pool_job *next;             /* of the pool, while it is queued */
};

struct decide_pool;

/* How many threads the jobs of one owner may have at the same time. 0: all. */
struct pool_shares {
    unsigned account, source;
};

/* Threads are started as they are needed, up to threads_max (1..64). NULL: not even one could be.
 * Main thread. */
struct decide_pool *decide_pool_new(unsigned threads_max, struct pool_shares shares);
/* Waits until all jobs have run; none may be submitted any more. Main thread, after the servers
 * have stopped and before the store is closed. */
void decide_pool_free(struct decide_pool *pool);
/* May one more job of this owner wait for a thread, if `places` may in all? An account may have as many as
 * it leaves free, and one of its sources half as many: whoever comes next finds a place. Any thread. */
bool decide_pool_has_room(struct decide_pool *pool, const struct pool_owner *owner,
                          unsigned places);
/* Accounts have turns, and jobs of one run in the order they were submitted; one whose owner has its share waits
 * until a job of this owner ends. Any thread. */
void decide_pool_submit(struct decide_pool *pool, struct pool_job *job);

#endif
