/* Mutexes with ranks. A thread acquires locks only in order of rank, and has the same scheduling
 * priority as the threads that may wait for it (base/thread.h). Debug builds (and all sanitizer
 * builds) assert both. No lock is held while waiting for disk or network, nor during a callback,
 * unless the rank's comment says so. */
#ifndef LAGRA_BASE_LOCK_H
#define LAGRA_BASE_LOCK_H

#include <pthread.h>
#include <stdbool.h>

enum lock_rank {
    RANK_STATE_SET = 1, /* embedded store: saved states; held while one is restored */
    RANK_LAG,           /* embedded store: the states that a lagging view shows */
    RANK_PARTITION,     /* store: a stripe of partitions; held during the engine's write call */
    RANK_RECORD_SET,    /* embedded store: a set of cached records */
    RANK_MEMORY_TREE,   /* memory store: the root */
    RANK_EXTENTS,       /* embedded store: allocation in extents, tables of extents */
    RANK_RECLAIM,       /* embedded store: freed ranges, open snapshots */
    RANK_WRITTEN,       /* embedded store: keys written since states were saved */
    RANK_DEFERRED,      /* store: the front of the list of deferred tasks */
    RANK_SYNCER,        /* wait queues of the syncers */
    RANK_TABLE_PROOF,   /* embedded store: held while a table is read and verified */
    RANK_IO_POOL,       /* queue of the pool for disk I/O */
    RANK_DECIDE_POOL,   /* service: queue of the pool for decisions that may block */
    RANK_BACKGROUND,    /* service: list of background jobs */
    RANK_TASK_RUNNER,   /* service: whether the deferred task runner sleeps */
    RANK_WAITING,       /* service: requests that wait for other requests' changes */
    RANK_FAULTS,        /* service: faults requested by tests */
    RANK_NEWS,          /* opens: listeners of breaks and changes; held while they are called */
    RANK_BREAK,         /* smb: the break that a lease or oplock must send */
    RANK_TENURE,        /* base: requests that wait for a renewal of the tenure */
    RANK_SLEEPER,       /* a thread that waits for a single event */
    RANK_SMB,           /* smb: sessions of the service */
    RANK_ACCOUNT_USES,  /* smb: usage per account over all connections */
    RANK_LOGONS,        /* auth: failed logons */
    RANK_BACKUP_HOLD,   /* admin: the snapshot held for a backup */
    RANK_SCRUBBER,      /* admin: progress of the scrub */
    RANK_CELLS,         /* cluster: findings of a candidate for a cell */
    RANK_DIRECT,        /* cluster: direct reads and their files */
    RANK_CONSOLE,       /* console: sessions, links, samples */
    RANK_USAGE,         /* admin: storage used per account */
    RANK_ANALYTICS,     /* analytics: events not written yet */
    RANK_TRANSFER,      /* transfer: items that wait for a worker, errors */
    RANK_ACCOUNTS,      /* auth: changes to accounts */
    RANK_CONNECTIONS,   /* net: lists of connections, credentials */
    RANK_GATES,         /* test builds: gates */
    RANK_EVENTS,        /* base: rings of the event log; acquired at a thread's first event */
    RANK_SLOWEST,       /* service: the slowest requests */
    /* base: metrics; acquired at a thread's first update, for a new series, by a scrape */
    RANK_METRICS,
};

struct lock {
    pthread_mutex_t mutex;
    enum lock_rank rank;
    bool is_taken; /* written by its holder */
};

void lock_init(struct lock *lock, enum lock_rank rank);
void lock_destroy(struct lock *lock);
void lock_acquire(struct lock *lock);
/* Acquires another lock of the most recently acquired rank. Locks of one rank are elements of one
 * array and are acquired in order of address. */
void lock_acquire_next(struct lock *lock, const struct lock *last);
void lock_release(struct lock *lock);
/* Asserts that the lock is held; in debug builds, that this thread holds a lock of its rank. For
 * functions called under a lock. */
void lock_assert_held(const struct lock *lock);
/* Waits on a condition variable initialized with lock_condition_init(), which uses CLOCK_MONOTONIC.
 * A negative timeout_ms means no timeout. Returns false on timeout. */
void lock_condition_init(pthread_cond_t *condition);
bool lock_wait(struct lock *lock, pthread_cond_t *condition, int timeout_ms);
/* Like lock_wait(), for less than a millisecond or two. */
bool lock_wait_us(struct lock *lock, pthread_cond_t *condition, unsigned timeout_us);

#endif
