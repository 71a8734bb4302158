/* A checkpoint of RocksDB's MANIFEST and a whole copy of it.
 *
 * The MANIFEST says which tables and logs the records are in. RocksDB takes a damaged end of it for
 * the torn end of a crash, forgets the files named there, and deletes them. So whenever it has
 * grown, it is made durable, what is new is added to a copy, the copy is made durable, and its
 * number, length and CRC-64 are recorded in `synced`, durably too. The next start proves every byte up
 * to that length before RocksDB sees it, or puts the copy back (records_proof.h).
 *
 * The MANIFEST grows with flushes, compactions and new logs, not with commits: one fstat() for each
 * sync of the log shows whether it has. Between its growing and the checkpoint RocksDB may delete logs
 * and tables; damage to bytes not recorded yet cannot be mended then, but is found by log_chain.h.
 *
 *   synced, from byte 16:
 *     8     "LAGRAMAN"
 *     8 le  number of the MANIFEST
 *     8 le  length
 *     8 le  CRC-64 of that many bytes
 *     4 le  CRC-32C of the above
 *   manifest-NNNNNN   the copy, in the data folder; may be longer than recorded */
#ifndef LAGRA_STORE_EMBEDDED_MANIFEST_GUARD_H
#define LAGRA_STORE_EMBEDDED_MANIFEST_GUARD_H

#include <stdatomic.h>

#include "base/lock.h"
#include "base/thread.h"
#include "store/embedded/keyspace.h"

struct manifest_checkpoint {
    uint64_t number; /* 0: there is no checkpoint */
    uint64_t length;
    uint64_t crc;
};

#define MANIFEST_COPY_NAME_SIZE 32

void manifest_copy_name(char to[MANIFEST_COPY_NAME_SIZE], uint64_t number);
/* Is there a copy? A start makes the first when all of records/ is durable. returns STORE_OK, STORE_IO (logged) */
enum store_result manifest_find_copy(int folder, bool *ret_found);
/* synced: the open file. A damaged checkpoint is ignored, and logged. returns STORE_OK, STORE_IO */
enum store_result manifest_checkpoint_read(int synced, struct manifest_checkpoint *ret_checkpoint);

struct manifest_guard {
    const struct keyspace *keyspace;
    int folder;         /* of the data; the guard's own, as the next three */
    int records;        /* its folder records/ */
    _Atomic int source; /* the MANIFEST; -1: to be opened */
    int copy;           /* -1: to be begun anew */
    int synced;         /* the caller's */
    struct manifest_checkpoint
        checkpoint;          /* what copy holds; of the thread, or of start and close */
    atomic_bool stale;       /* there is none of this start yet, or the last one failed */
    bool failed;             /* the last one; of the thread, or of close */
    _Atomic uint64_t length; /* recorded */
    struct thread thread;
    struct lock lock;
    pthread_cond_t work;
    bool asked;    /* under lock */
    bool stopping; /* under lock */
};

/* returns STORE_OK, STORE_IO (no descriptor) */
enum store_result manifest_guard_open(struct manifest_guard *guard, int folder, int synced,
                                      const struct keyspace *keyspace);
/* Takes the first checkpoint at once, beside what is served: until then the one before stays true. One that fails (the
 * disk is full) is logged and tried again. False: no thread; to be stopped all the same. */
bool manifest_guard_start(struct manifest_guard *guard);
/* Has a new checkpoint taken in the background when the MANIFEST has changed. Syncer, after each sync. */
void manifest_guard_look(struct manifest_guard *guard);
/* Ends the thread; the key space is still open. */
void manifest_guard_stop(struct manifest_guard *guard);
/* Takes the last checkpoint, once the key space is closed. */
void manifest_guard_close(struct manifest_guard *guard);

#endif
