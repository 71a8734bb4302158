/* A cell that this process owns: a thread that renews its lease each second, and its end.
 *
 *   acquired  --- owner_start() --->  owned: the tenure holds while renewals succeed in time
 *   owned     --- owner_release() ->  given up: the record says so, the lock is free
 *   owned     --- (lost) ---------->  the process must end: another front end has the cell, or may
 *
 * Each renewal first reads the record and compares its incarnation with ours. The lock is not
 * enough: a CephFS client that was evicted and reconnects has lost it without notice.
 *
 * A renewal that the file system delays lets the tenure lapse by itself; it holds again once one
 * has succeeded, since no other front end can have written to the cell in between. */
#ifndef LAGRA_CLUSTER_OWNER_H
#define LAGRA_CLUSTER_OWNER_H

#include "base/tenure.h"
#include "base/thread.h"
#include "cluster/owner_file.h"

struct owner {
    struct owner_file file;     /* locked */
    struct owner_record record; /* as it was written last */
    struct tenure tenure;
    /* Called once on the owner's thread when the cell is lost; why: words for the log. */
    void (*lost)(void *context, const char *why);
    void (*renewed)(void *context); /* called on that thread after each renewal */
    void *context;
    struct thread thread;
    atomic_bool ends;
    _Atomic uint64_t used_bytes; /* for the record */
    atomic_bool serves;          /* owner_serves() */
    /* Of the owner's thread. */
    unsigned settles; /* renewals that are still to be settled */
    bool was_in_time; /* the last renewal: the tenure still held */
    bool has_lapsed;  /* it did not, which was logged */
};

/* Takes over the file, which is locked and has this record of ours, written by a write that started
 * at `began_ns` (clock_boot_ns()). The tenure starts at once; the caller waits for the end of the
 * previous owner's lease before it serves. Returns false if no thread can be started. */
bool owner_start(struct owner *owner, struct owner_file *file, const struct owner_record *record,
                 uint64_t began_ns, void (*lost)(void *context, const char *why),
                 void (*renewed)(void *context), void *context);
/* Notes that the store is open: renewals wait for the MDS no more. Thread-safe. */
void owner_serves(struct owner *owner);
/* Ends the tenure and the thread, writes that the cell is free, and unlocks it. Everything else
 * that writes to the cell must have ended. Main thread. */
void owner_release(struct owner *owner);

#endif
