/* Group commit: one thread syncs the log over and over while there is work, and wakes all whose
 * sequence is covered.
 *
 * After each sync the durable sequence is noted in the file `synced` (not synced itself; it reaches
 * the disk when the kernel likes). At open the records must be at least as new as that note: a log
 * whose end was lost or damaged after it had been acknowledged is so told from one that merely ends
 * in a torn write.
 *
 *   synced   8 le   sequence
 *            8 le   its complement */
#ifndef LAGRA_STORE_EMBEDDED_SYNCER_H
#define LAGRA_STORE_EMBEDDED_SYNCER_H

#include <stdatomic.h>

#include "base/lock.h"
#include "base/thread.h"
#include "store/embedded/keyspace.h"

struct syncer {
    const struct keyspace *keyspace;
    bool sync;     /* false: everything counts as durable at once */
    int note_file; /* `synced` */
    void (*failed)(void *context);
    void *context;
    struct thread thread;
    pthread_cond_t work;

    _Atomic uint64_t durable;
    atomic_bool dirty;  /* something was written since the last sync began */
    atomic_bool broken; /* nothing more becomes durable */

    struct lock lock;
    struct waiter *waiters; /* under lock */
    bool idle;              /* under lock: the thread sleeps, or is about to */
    bool stopping;          /* under lock */
};

/* Checks the note against the records. folder: of the data.
 * returns STORE_OK, STORE_CORRUPT (acknowledged records are missing), STORE_IO */
enum store_result syncer_check(int folder, uint64_t newest, int *ret_note_file,
                               const char **ret_problem);
/* failed(context) is called once, from the thread, when a sync fails. False: no thread; to be stopped
 * all the same. */
bool syncer_start(struct syncer *syncer, const struct keyspace *keyspace, bool sync, int note_file,
                  void (*failed)(void *context), void *context);
/* Syncs what is left and ends the thread. */
void syncer_stop(struct syncer *syncer);

/* Something was written. Any thread. */
void syncer_wrote(struct syncer *syncer);
bool syncer_covers(const struct syncer *syncer, uint64_t sequence);
void syncer_wait(struct syncer *syncer, uint64_t sequence, struct waiter *waiter);
/* Nothing more becomes durable: lets go of everybody. Any thread. */
void syncer_break(struct syncer *syncer);

#endif
