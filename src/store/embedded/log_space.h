/* Room for RocksDB's log, written with zeros ahead of it. A sync of bytes that lie over written ones
 * changes neither the file's size nor its map of blocks, so the file system's journal has nothing to
 * commit: the sync is one write of the disk instead of several.
 *
 * The zeros go to the end of the file (O_APPEND). What RocksDB has written lies before that end, and
 * what it will write begins before it, so zeros never come to lie over records, whichever thread
 * writes the log meanwhile; the kernel takes the end and writes under one lock. A log that was not
 * closed so ends in zeros, which log_chain.h and RocksDB's reader take for its end; one that RocksDB
 * closes is cut to its length by it.
 *
 * For file systems that write over blocks in place (ext4, XFS); where nothing is prepared, or a write
 * fails, RocksDB's own write makes the file longer, as it does without us. Used by the syncer
 * alone. decision: 215 */
#ifndef LAGRA_STORE_EMBEDDED_LOG_SPACE_H
#define LAGRA_STORE_EMBEDDED_LOG_SPACE_H

#include "store/embedded/keyspace.h"

struct log_space {
    int records;      /* the folder, the caller's; -1: nothing is prepared */
    int log;          /* the newest log; -1: none, or nothing can be prepared in it */
    uint64_t number;  /* of the newest log; 0: none was found yet */
    uint64_t version; /* keyspace_version() when it was looked for */
    uint64_t before;  /* keyspace_logged() before the log, or less */
    uint64_t logged;  /* keyspace_logged() when space was last prepared */
    uint64_t last;    /* bytes that were logged to the one before */
    uint64_t ready;   /* length of the log with its zeros */
};

void log_space_open(struct log_space *space, int records);
/* Makes room for what was logged, and for some more. May write to the disk, does not sync. */
void log_space_prepare(struct log_space *space, const struct keyspace *keyspace);
void log_space_close(struct log_space *space);

#endif
