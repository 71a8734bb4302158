/* Group commit: one thread syncs the log repeatedly while there is work, and wakes all waiters
 * whose sequence is covered.
 *
 * After each sync, and before any waiter is woken, the durable sequence is recorded in the file
 * `synced` (which is not synced; it reaches the disk when the kernel writes it). At open the
 * records must be at least as new: this distinguishes a log whose end was lost or damaged after it
 * had been acknowledged from one that merely ends in a torn write.
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
    struct log_space log_space; /* used by the thread */
    bool sync;                  /* false: everything counts as durable at once */
    int synced;                 /* the file; owned by the caller */
    void (*failed)(void *context);
    void *context;
    struct thread thread;
    pthread_cond_t work;

    _Atomic uint64_t durable;
    atomic_bool dirty;      /* something was written since the start of the last sync */
    atomic_bool slack;      /* something was written that has no waiter */
    _Atomic uint64_t begun; /* keyspace_logged() at the start of the last sync */
    atomic_bool broken;     /* nothing more becomes durable */

    struct lock lock;
    struct waiter *waiters; /* under lock */
    size_t waiting;         /* of them; under lock */
    /* number of waiters at which the thread is woken; 0 means not by number; under lock */
    size_t gathering;
    bool idle;     /* under lock: the thread sleeps, or is about to */
    bool stopping; /* under lock */
};

/* Opens the file `synced`, creating it if it is missing, and reads its sequence, 0 if it has none.
 * folder: of the data. Returns STORE_OK, STORE_IO (logged). */
enum store_result syncer_open_record(int folder, int *ret_synced, uint64_t *ret_sequence);
/* Durably records a sequence that is durable, before RocksDB writes the contents of its logs to a
 * table and deletes them. If that table is damaged, the next start must not accept an older
 * MANIFEST, to which the logs belonged. Returns STORE_OK, STORE_IO (logged). */
enum store_result syncer_record_start(int folder, int synced, uint64_t sequence);
/* failed(context) is called once, from the thread, when a sync fails. Returns false if no thread
 * could be created; syncer_stop() must be called anyway. */
bool syncer_start(struct syncer *syncer, const struct keyspace *keyspace,
                  struct manifest_guard *guard, bool sync, int synced,
                  void (*failed)(void *context), void *context);
/* Syncs the remaining writes and ends the thread. */
void syncer_stop(struct syncer *syncer);

/* Called after a write: schedules a sync. Thread-safe. */
void syncer_wrote(struct syncer *syncer);
/* Like syncer_wrote(), for a write without a waiter. It is synced together with other writes within
 * STORE_LEISURE_MS, or earlier if a waiter arrives or the log's buffer is full. Thread-safe. */
void syncer_wrote_at_leisure(struct syncer *syncer);
bool syncer_covers(const struct syncer *syncer, uint64_t sequence);
void syncer_wait(struct syncer *syncer, uint64_t sequence, struct waiter *waiter);
/* Stops syncing permanently, and wakes all waiters. Thread-safe. */
void syncer_break(struct syncer *syncer);

#endif
