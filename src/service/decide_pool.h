/* Threads that may wait for a disk, or for other machines, so that HTTP workers need not: what a
 * decision did not find in memory, and the store does not fetch by itself (fetch_set_wait()), is decided
 * again here (STORE_MAY_BLOCK), as is what takes long to compute; and parts of a content's
 * map are read here while it is sent. There are few threads, and a queue before them that is as
 * long as there are exchanges that wait: each has at most one job. */
#ifndef LAGRA_SERVICE_DECIDE_POOL_H
#define LAGRA_SERVICE_DECIDE_POOL_H

/* Lies in its owner, whose it is again when `run` is called: run() may submit it anew, and what it
 * belongs to may be gone when run() returns. */
struct pool_job {
    void (*run)(struct pool_job *job); /* on a thread of the pool */
    struct pool_job *next;             /* of the pool, while it is queued */
};

struct decide_pool;

/* Threads are started as they are needed, up to threads_max (1..64). NULL: not even one could be.
 * Main thread. */
struct decide_pool *decide_pool_new(unsigned threads_max);
/* Waits until all jobs have run; none may be submitted any more. Main thread, after the servers
 * have stopped and before the store is closed. */
void decide_pool_free(struct decide_pool *pool);
/* How many jobs no thread has taken yet. Any thread. */
unsigned decide_pool_waiting(struct decide_pool *pool);
/* Jobs run in the order they were submitted. Any thread. */
void decide_pool_submit(struct decide_pool *pool, struct pool_job *job);

#endif
