/* Checkpoints RocksDB's MANIFEST and keeps a complete copy of it.
 *
 * The MANIFEST names the tables and logs with the records. RocksDB mistakes a damaged end of it for
 * a torn end after a crash, forgets the files named there, and deletes them. So whenever it has
 * grown, it is synced, the new part is appended to a copy, which is synced too, and its number,
 * length and CRC-64 are durably recorded in `synced`. The next start verifies every byte up to that
 * length before RocksDB sees it, or restores the copy (records_proof.h).
 *
 * The MANIFEST grows with flushes, compactions and new logs, not with commits: an fstat() per sync
 * of the log shows whether it has. Between its growth and the checkpoint RocksDB may delete logs
 * and tables; damage to bytes not recorded yet then cannot be repaired, but is detected by
 * log_chain.h.
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
    uint64_t number; /* 0 means there is no checkpoint */
    uint64_t length;
    uint64_t crc;
};

#define MANIFEST_COPY_NAME_SIZE 32

void manifest_copy_name(char to[MANIFEST_COPY_NAME_SIZE], uint64_t number);
/* Determines whether there is a copy. Startup creates the first one when all of records/ is
 * durable. Returns STORE_OK, STORE_IO (logged). */
enum store_result manifest_find_copy(int folder, bool *ret_found);
/* synced: the open file. A damaged checkpoint is ignored and logged. Returns STORE_OK, STORE_IO. */
enum store_result manifest_checkpoint_read(int synced, struct manifest_checkpoint *ret_checkpoint);

struct manifest_guard {
    const struct keyspace *keyspace;
    int folder;         /* of the data; the guard's own, as the next three */
    int records;        /* its folder records/ */
    _Atomic int source; /* the MANIFEST; -1: must be opened */
    int copy;           /* -1: must be started again */
    int synced;         /* owned by the caller */
    struct manifest_checkpoint
        checkpoint;          /* contents of the copy; used by the thread, or by startup and close */
    atomic_bool stale;       /* no checkpoint since the start, or the last one failed */
    bool failed;             /* the last checkpoint failed; used by the thread, or by close */
    _Atomic uint64_t length; /* recorded */
    struct thread thread;
    struct lock lock;
    pthread_cond_t work;
    bool asked;    /* under lock */
    bool stopping; /* under lock */
};

/* Returns STORE_OK, STORE_IO (no descriptor). */
enum store_result manifest_guard_open(struct manifest_guard *guard, int folder, int synced,
                                      const struct keyspace *keyspace);
/* Takes the first checkpoint immediately, concurrently with requests. Until then the previous one
 * is valid. One that fails (the disk is full) is logged and retried. Returns false if no thread
 * could be created; manifest_guard_stop() must be called anyway. */
bool manifest_guard_start(struct manifest_guard *guard);
/* Requests a new checkpoint in the background if the MANIFEST has changed. Syncer, after each
 * sync. */
void manifest_guard_look(struct manifest_guard *guard);
/* Ends the thread; the key space is still open. */
void manifest_guard_stop(struct manifest_guard *guard);
/* Takes the last checkpoint, once the key space is closed. */
void manifest_guard_close(struct manifest_guard *guard);

#endif
