/* The one ordered key space of the embedded store, in RocksDB: options, opening, single calls, and
 * the mapping of its errors. Only this room knows that it is RocksDB.
 *
 * Sequences of the embedded store are RocksDB's own sequence numbers: every write moves the newest
 * one on, and it is told as written only after it is in the log and seen by readers; so a flush of
 * the log that began after a sequence was the newest one covers all that anybody saw at it. */
#ifndef LAGRA_STORE_EMBEDDED_KEYSPACE_H
#define LAGRA_STORE_EMBEDDED_KEYSPACE_H

#include <rocksdb/c.h>

#include "store/store.h"

struct keyspace {
    rocksdb_t *db;
    rocksdb_options_t *options;
    rocksdb_cache_t *cache;
    rocksdb_readoptions_t *read; /* newest state, checksums verified */
    rocksdb_writeoptions_t *write;
};

/* Opens the key space in a folder, or makes it where there is none: in a folder that lost its
 * CURRENT, RocksDB would make an empty one. */
enum keyspace_mode { KEYSPACE_EXISTS, KEYSPACE_NEW };
/* cache_bytes 0: default. Start-up thread. *ret_problem: as store_open_embedded().
 * returns STORE_OK, STORE_CORRUPT, STORE_IO */
enum store_result keyspace_open(const char *path, size_t cache_bytes, enum keyspace_mode mode,
                                struct keyspace *ret_keyspace, const char **ret_problem);
void keyspace_close(struct keyspace *keyspace);

/* Whether a flush or a compaction is under way or about to begin. Any thread. */
bool keyspace_is_busy(const struct keyspace *keyspace);

uint64_t keyspace_sequence(const struct keyspace *keyspace);

/* The value under a key, pinned; the caller destroys it. read: which state. May wait for a disk
 * read. returns STORE_OK, STORE_NOT_FOUND, STORE_CORRUPT, STORE_IO. Any thread. */
enum store_result keyspace_get(const struct keyspace *keyspace, const rocksdb_readoptions_t *read,
                               struct bytes key, rocksdb_pinnableslice_t **ret_value);
/* Applies a batch: in the log's buffer and seen by readers, not durable. Any thread. */
enum store_result keyspace_write(const struct keyspace *keyspace, rocksdb_writebatch_t *batch);
/* Writes the log out; with `sync` all writes that were done before are then durable. Waits for the
 * disk. Syncer. */
enum store_result keyspace_write_log(const struct keyspace *keyspace, bool sync);

/* Logs a RocksDB error, frees it, and says which result it is. */
enum store_result keyspace_error(const char *doing, char *error);

#endif
