/* The one ordered key space of the embedded store, in RocksDB: options, opening, single calls, and
 * the mapping of its errors. Only this room knows that it is RocksDB.
 *
 * Sequences of the embedded store are RocksDB's own sequence numbers: every write moves the newest
 * one on, and RocksDB publishes it only after it is in the log and seen by readers; so a flush of
 * the log that began after a sequence was the newest one covers all that anybody saw at it. */
#ifndef LAGRA_STORE_EMBEDDED_KEYSPACE_H
#define LAGRA_STORE_EMBEDDED_KEYSPACE_H

#include <rocksdb/c.h>
#include <stdatomic.h>

#include "store/embedded/sizes.h"
#include "store/store.h"

/* How to read one state, NULL for the newest: checksums are verified. The caller destroys it. */
rocksdb_readoptions_t *read_options_new(const rocksdb_snapshot_t *state);
/* For an iterator, beside keyspace_enter(): reads no more than the block cache has under STORE_NO_WAIT,
 * where RocksDB would not ask before it reads more (interposed.h). */
void read_options_set_access(rocksdb_readoptions_t *read, struct store_access access);

/* Descriptors that RocksDB uses at most: tables held open, those that scans and a compaction read and
 * write besides, logs, and its other files. tests/unit/store/test_descriptors.c */
#define KEYSPACE_TABLES_OPEN 256
#define KEYSPACE_DESCRIPTORS (KEYSPACE_TABLES_OPEN + 64u)

struct keyspace {
    rocksdb_t *db;
    rocksdb_options_t *options;
    rocksdb_cache_t *cache;
    rocksdb_readoptions_t *newest; /* of the newest state */
    rocksdb_writeoptions_t *write; /* STORE_WAIT rather than wait for flushes and compactions */
    size_t level1;                 /* bytes that it may have now; start-up thread, then collector */
    _Atomic uint64_t logged;
};

/* Opens the key space in a folder, or creates it: in a folder that lost its
 * CURRENT, RocksDB would make an empty one. */
/* KEYSPACE_READ_ONLY: nothing is written there, logs are read into memory. */
enum keyspace_mode { KEYSPACE_EXISTS, KEYSPACE_NEW, KEYSPACE_READ_ONLY };
/* sizes NULL: those of the largest reserve. cache_bytes 0: default. Start-up thread. *ret_problem: as store_open_embedded().
 * returns STORE_OK, STORE_CORRUPT, STORE_IO */
enum store_result keyspace_open(const char *path, const struct sizes *sizes, size_t cache_bytes,
                                enum keyspace_mode mode, struct keyspace *ret_keyspace,
                                const char **ret_problem);
void keyspace_close(struct keyspace *keyspace);
/* Of one that was opened so. */
void keyspace_close_read_only(struct keyspace *keyspace);
/* Closes it and deletes its files. */
void keyspace_discard(struct keyspace *keyspace, const char *path);

/* From now on levels 0 and 1 are as large as these sizes say, where they differ from what was. May wait for the
 * disk. Start-up thread, then the collector. */
void keyspace_set_levels(struct keyspace *keyspace, const struct sizes *sizes);
/* Whether a flush or a compaction is under way or about to begin. Any thread. */
bool keyspace_is_busy(const struct keyspace *keyspace);

/* Looks again how RocksDB reads (interposed.h), as keyspace_open() does: when there may be a first table
 * by now. Note taker. */
void keyspace_prove_reads(const struct keyspace *keyspace);
/* Changes at the latest when RocksDB has begun another log. Any thread. */
uint64_t keyspace_version(const struct keyspace *keyspace);
/* Bytes that were given to the log so far: that many at most, but for its fragments' headers. Any
 * thread. */
uint64_t keyspace_logged(const struct keyspace *keyspace);

uint64_t keyspace_sequence(const struct keyspace *keyspace);

/* Around calls to RocksDB: under STORE_NO_WAIT they read what is in memory alone (memtables, block
 * cache, the kernel's page cache), and fail where more is needed (keyspace_error(): STORE_WAIT). No
 * call of keyspace_*() in between. Any thread. */
void keyspace_enter(struct store_access access);
void keyspace_leave(void);
/* The value under a key, pinned; the caller destroys it. read: which state.
 * returns STORE_OK, STORE_NOT_FOUND, STORE_WAIT, STORE_CORRUPT, STORE_IO. Any thread. */
enum store_result keyspace_get(const struct keyspace *keyspace, const rocksdb_readoptions_t *read,
                               struct store_access access, struct bytes key,
                               rocksdb_pinnableslice_t **ret_value);
/* The value under a key of the newest state, if it is in a memtable or in RocksDB's cache; else
 * STORE_WAIT, or STORE_NOT_FOUND. The rest as keyspace_get(). */
enum store_result keyspace_get_cached(const struct keyspace *keyspace, struct bytes key,
                                      rocksdb_pinnableslice_t **ret_value);
/* Applies a batch: in the log's buffer and seen by readers, not durable.
 * returns STORE_OK
 *         STORE_WAIT  RocksDB slows writers down until it has flushed or compacted more: nothing was
 *                     written
 *         STORE_IO. Any thread. */
enum store_result keyspace_write(struct keyspace *keyspace, rocksdb_writebatch_t *batch);
/* Writes the log out; with `sync` all writes that were done before are then durable. Waits for the
 * disk. Syncer. */
enum store_result keyspace_write_log(const struct keyspace *keyspace, bool sync);

/* Makes the folder `path`, which does not exist, with the newest state or a later one: its tables are
 * linked, so they stay when RocksDB deletes them. Waits for the disk.
 * returns STORE_OK, STORE_FULL, STORE_SHORTAGE, STORE_IO (logged) */
enum store_result keyspace_checkpoint(const struct keyspace *keyspace, const char *path);

/* Waits a moment for RocksDB to catch up, after STORE_WAIT of keyspace_write(). Without a lock. */
void keyspace_pause(void);
/* Has deleted records give back their space soon, not when RocksDB gets to it. May wait for the disk.
 * Collector. */
void keyspace_give_back(const struct keyspace *keyspace);
#ifdef LAGRA_GATES
/* Writes out what is in memtables, compacts all, so that few files are open, and empties the block cache.
 * Waits for the disk. Any thread. */
void keyspace_drop_caches(const struct keyspace *keyspace);
#endif

/* Frees a RocksDB error and says which result it is; logs it unless it is STORE_WAIT. */
enum store_result keyspace_error(const char *doing, char *error);

#endif
