/* Space for RocksDB's log, filled with zeros ahead of it. A sync of bytes that overwrite existing
 * ones changes neither the file's size nor its map of blocks, so the file system's journal has
 * nothing to commit: the sync is one disk write instead of several.
 *
 * The zeros are appended to the file (O_APPEND). Records that RocksDB has written are before that
 * end, and its next write starts before it, so zeros never overwrite records, even if another
 * thread writes the log at the same time; the kernel reads the end and writes under one lock. A log
 * that was not closed ends in zeros, which log_chain.h and RocksDB's reader treat as its end;
 * RocksDB truncates one that it closes.
 *
 * For file systems that overwrite blocks in place (ext4, XFS); if nothing is prepared, or a write
 * fails, RocksDB's own write extends the file as usual. Used only by the syncer.
 * decision: 215 */
#ifndef LAGRA_STORE_EMBEDDED_LOG_SPACE_H
#define LAGRA_STORE_EMBEDDED_LOG_SPACE_H

#include "store/embedded/keyspace.h"

struct log_space {
    int records;      /* the folder, owned by the caller; -1: nothing is prepared */
    int log;          /* the newest log; -1: none, or it cannot be prepared */
    uint64_t number;  /* of the newest log; 0 means none found yet */
    uint64_t version; /* keyspace_version() at the last search */
    uint64_t before;  /* lower bound of keyspace_logged() at the start of the log */
    uint64_t logged;  /* keyspace_logged() when space was last prepared */
    uint64_t last;    /* bytes written to the previous log */
    uint64_t ready;   /* length of the log including its zeros */
};

void log_space_open(struct log_space *space, int records);
/* Prepares space for the bytes logged so far and some more. May write to the disk, without a
 * sync. */
void log_space_prepare(struct log_space *space, const struct keyspace *keyspace);
void log_space_close(struct log_space *space);

#endif
