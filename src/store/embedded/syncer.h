/* Group commit: one thread syncs the log over and over while there is work, and wakes all whose
 * sequence is covered.
 *
 * After each sync, and before any waiter is woken, the durable sequence is recorded in the file
 * `synced` (not synced itself; it reaches the disk when the kernel likes). At open the records must
 * be at least as new as that record: a log whose end was lost or damaged after it had been
 * acknowledged is so distinguished from one that merely ends in a torn write.
 *
 *   synced   8 le   sequence
 *            8 le   its complement
 *            36     a checkpoint of the MANIFEST (manifest_guard.h) */
#ifndef LAGRA_STORE_EMBEDDED_SYNCER_H
#define LAGRA_STORE_EMBEDDED_SYNCER_H

#include <stdatomic.h>

#include "base/lock.h"
#include "base/thread.h"
#include "store/embedded/keyspace.h"
#include "store/embedded/log_space.h"
#include "store/embedded/manifest_guard.h"

struct syncer {
    const struct keyspace *keyspace;
    struct manifest_guard *guard;
    struct log_space log_space; /* the thread's */
    bool sync;                  /* false: everything counts as durable at once */
    int synced;                 /* the file; the caller's */
    void (*failed)(void *context);
    void *context;
    struct thread thread;
    pthread_cond_t work;

    _Atomic uint64_t durable;
    atomic_bool dirty;      /* something was written since the last sync began */
    atomic_bool slack;      /* something was for which nobody has waited */
    _Atomic uint64_t begun; /* keyspace_logged() when the last sync began */
    atomic_bool broken;     /* nothing more becomes durable */

    struct lock lock;
    struct waiter *waiters; /* under lock */
    size_t waiting;         /* of them; under lock */
    size_t gathering; /* the thread is woken when so many wait; 0: it does not ask; under lock */
    bool idle;        /* under lock: the thread sleeps, or is about to */
    bool stopping;    /* under lock */
};

/* Opens the file `synced`, creating it if it is missing, and reads the sequence in it: 0 when it says
 * nothing. folder: of the data. returns STORE_OK, STORE_IO (logged) */
enum store_result syncer_open_record(int folder, int *ret_synced, uint64_t *ret_sequence);
/* Notes a sequence that is durable, durably: before RocksDB puts what its logs hold into a table and
 * deletes them. If that table is damaged, the next start must not take an older MANIFEST, to which the
 * logs belonged, for the right one. returns STORE_OK, STORE_IO (logged) */
enum store_result syncer_record_start(int folder, int synced, uint64_t sequence);
/* failed(context) is called once, from the thread, when a sync fails. False: no thread; to be
 * stopped all the same. */
bool syncer_start(struct syncer *syncer, const struct keyspace *keyspace,
                  struct manifest_guard *guard, bool sync, int synced,
                  void (*failed)(void *context), void *context);
/* Syncs what is left and ends the thread. */
void syncer_stop(struct syncer *syncer);

/* Something was written. Any thread. */
void syncer_wrote(struct syncer *syncer);
/* The same, and nobody waits for it: it is synced with what comes in STORE_LEISURE_MS, or sooner if somebody
 * waits for it or as much has come as the log's buffer holds. Any thread. */
void syncer_wrote_at_leisure(struct syncer *syncer);
bool syncer_covers(const struct syncer *syncer, uint64_t sequence);
void syncer_wait(struct syncer *syncer, uint64_t sequence, struct waiter *waiter);
/* Nothing more becomes durable: wakes all waiters. Any thread. */
void syncer_break(struct syncer *syncer);

#endif
