/* Mutexes with ranks: a thread takes locks only in rising rank, and has the same share of a core as
 * those who may wait for it (base/thread.h). Debug builds (and all sanitizer builds) assert both. No
 * lock is held while waiting for disk or network, nor over a callback, unless the rank's line says so. */
#ifndef LAGRA_BASE_LOCK_H
#define LAGRA_BASE_LOCK_H

#include <pthread.h>
#include <stdbool.h>

enum lock_rank {
    RANK_STATE_SET = 1, /* embedded store: states that are kept; over a return to one */
    RANK_LAG,           /* embedded store: which states a view that lags shows */
    RANK_PARTITION,     /* store: a stripe of partitions; held over the engine's write call */
    RANK_RECORD_SET,    /* embedded store: a set of cached records */
    RANK_MEMORY_TREE,   /* memory store: the root */
    RANK_EXTENTS,       /* embedded store: allocation in extents, tables of extents */
    RANK_RECLAIM,       /* embedded store: freed ranges, open snapshots */
    RANK_WRITTEN,       /* embedded store: keys written since states were kept */
    RANK_DEFERRED,      /* store: the front of the list of deferred tasks */
    RANK_SYNCER,        /* waiting lists of the syncers */
    RANK_TABLE_PROOF,   /* embedded store: held while a table is read to be proven */
    RANK_IO_POOL,       /* queue of the pool that waits for disks */
    RANK_DECIDE_POOL,   /* service: queue of the pool that decides what may wait */
    RANK_BACKGROUND,    /* service: list of background jobs */
    RANK_TASK_RUNNER,   /* service: the runner of deferred tasks sleeps or wakes */
    RANK_WAITING,       /* service: those who wait for others' changes */
    RANK_FAULTS,        /* service: faults that tests have asked for */
    RANK_NEWS,          /* file: listeners of breaks and changes; held while they are called */
    RANK_BREAK,         /* smb: the break that a lease or oplock has to send */
    RANK_SLEEPER,       /* a thread that waits for one event */
    RANK_SMB,           /* smb: sessions of the service */
    RANK_ACCOUNT_USES,  /* smb: what accounts use on all connections */
    RANK_LOGONS,        /* auth: logons that failed */
    RANK_BACKUP_HOLD,   /* admin: the state that is held for a backup */
    RANK_SCRUBBER,      /* admin: how far the scrub is */
    RANK_CELLS,         /* cluster: what a candidate for a cell has found */
    RANK_CONSOLE,       /* console: sessions, links, what was sampled */
    RANK_USAGE,         /* admin: what accounts keep */
    RANK_ANALYTICS,     /* analytics: what was taken of requests and is not written yet */
    RANK_TRANSFER,      /* transfer: items that wait for a worker, what went wrong */
    RANK_ACCOUNTS,      /* auth: who changes accounts */
    RANK_CONNECTIONS,   /* http: list of connections */
    RANK_GATES,         /* test builds: gates */
    RANK_EVENTS,        /* a thread's first event */
    RANK_SLOWEST,       /* service: the slowest requests */
    RANK_METRICS,       /* a thread's first number, a new series, a scrape */
};

struct lock {
    pthread_mutex_t mutex;
    enum lock_rank rank;
    bool is_taken; /* written by its holder */
};

void lock_init(struct lock *lock, enum lock_rank rank);
void lock_release(struct lock *lock);
void lock_take(struct lock *lock);
/* Takes another lock of the rank that was taken last. Locks of one rank lie in one array and are
 * taken by rising address. */
void lock_take_next(struct lock *lock, const struct lock *last);
void lock_give(struct lock *lock);
/* Asserts that the lock is taken, in debug builds also that it is this thread that holds one of its
 * rank. For functions that are called under a lock. */
void lock_assert_held(const struct lock *lock);
/* Waits on a condition variable that uses CLOCK_MONOTONIC (lock_condition_init). timeout_ms < 0:
 * for ever. Returns false on timeout. */
void lock_condition_init(pthread_cond_t *condition);
bool lock_wait(struct lock *lock, pthread_cond_t *condition, int timeout_ms);
/* For less than a millisecond or two. */
bool lock_wait_us(struct lock *lock, pthread_cond_t *condition, unsigned timeout_us);

#endif
