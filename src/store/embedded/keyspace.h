/* The ordered key space of the embedded store, in RocksDB: options, opening, single calls, and the
 * mapping of its errors. Only this folder depends on RocksDB.
 *
 * Sequences of the embedded store are RocksDB's own sequence numbers: every write increases the
 * newest one, and RocksDB publishes it only after it is in the log and visible to readers; so a
 * flush of the log that started when a sequence was the newest covers everything visible at that
 * sequence. */
#ifndef LAGRA_STORE_EMBEDDED_KEYSPACE_H
#define LAGRA_STORE_EMBEDDED_KEYSPACE_H

#include <rocksdb/c.h>
#include <stdatomic.h>

#include "store/embedded/sizes.h"
#include "store/store.h"

/* Creates options for reading one state, NULL for the newest; checksums are verified. The caller
 * destroys them. */
rocksdb_readoptions_t *read_options_new(const rocksdb_snapshot_t *state);
/* For an iterator, in addition to keyspace_enter(): with STORE_NO_WAIT it reads only the block
 * cache, if RocksDB would read more without asking (interposed.h). */
void read_options_set_access(rocksdb_readoptions_t *read, struct store_access access);

/* The maximum number of descriptors that RocksDB uses: open tables, those that scans and a
 * compaction read and write besides, logs, and its other files.
 * tests/unit/store/test_descriptors.c */
#define KEYSPACE_TABLES_OPEN 256
#define KEYSPACE_DESCRIPTORS (KEYSPACE_TABLES_OPEN + 64u)

struct keyspace {
    rocksdb_t *db;
    rocksdb_options_t *options;
    rocksdb_cache_t *cache;
    rocksdb_readoptions_t *newest; /* of the newest state */
    /* fails with STORE_WAIT instead of waiting for flushes and compactions */
    rocksdb_writeoptions_t *write;
    /* its current size limit; used by the startup thread, then the collector */
    size_t level1;
    _Atomic uint64_t logged;
};

/* Whether to open or create a key space: in a folder that lost its CURRENT, RocksDB would create an
 * empty one. */
/* KEYSPACE_READ_ONLY: nothing is written, and logs are read into memory. */
enum keyspace_mode { KEYSPACE_EXISTS, KEYSPACE_NEW, KEYSPACE_READ_ONLY };
/* Opens a key space. sizes NULL means for the largest reserve. cache_bytes 0 means default. Called
 * on the startup thread. *ret_problem: as store_open_embedded().
 *
 * Returns STORE_OK, STORE_CORRUPT, STORE_IO. */
enum store_result keyspace_open(const char *path, const struct sizes *sizes, size_t cache_bytes,
                                enum keyspace_mode mode, struct keyspace *ret_keyspace,
                                const char **ret_problem);
void keyspace_close(struct keyspace *keyspace);
/* For one opened with KEYSPACE_READ_ONLY. */
void keyspace_close_read_only(struct keyspace *keyspace);
/* Closes it and deletes its files. */
void keyspace_discard(struct keyspace *keyspace, const char *path);

/* Sets the sizes of levels 0 and 1 if they differ from the current ones. May wait for the disk.
 * Called on the startup thread, then by the collector. */
void keyspace_set_levels(struct keyspace *keyspace, const struct sizes *sizes);
/* Returns true if a flush or a compaction is running or about to start. Thread-safe. */
bool keyspace_is_busy(const struct keyspace *keyspace);

/* Checks how RocksDB reads (interposed.h), like keyspace_open(). Called again when there may be a
 * first table. Guard of the MANIFEST. */
void keyspace_prove_reads(const struct keyspace *keyspace);
/* Returns a number that changes when RocksDB starts another log. Thread-safe. */
uint64_t keyspace_version(const struct keyspace *keyspace);
/* Returns the bytes written to the log so far, an upper bound that excludes the headers of
 * fragments. Thread-safe. */
uint64_t keyspace_logged(const struct keyspace *keyspace);

uint64_t keyspace_sequence(const struct keyspace *keyspace);

/* Enclose calls to RocksDB: with STORE_NO_WAIT they read only data in memory (memtables, block
 * cache, the kernel's page cache), and fail if they need more (keyspace_error(): STORE_WAIT). No
 * call of keyspace_*() in between. Thread-safe. */
void keyspace_enter(struct store_access access);
void keyspace_leave(void);
/* Gets the value of a key, pinned; the caller destroys it. read: which state
 *
 * Returns STORE_OK, STORE_NOT_FOUND, STORE_WAIT, STORE_CORRUPT, STORE_IO. Thread-safe. */
enum store_result keyspace_get(const struct keyspace *keyspace, const rocksdb_readoptions_t *read,
                               struct store_access access, struct bytes key,
                               rocksdb_pinnableslice_t **ret_value);
/* Gets the value of a key in the newest state if it is in a memtable or in RocksDB's cache; else
 * returns STORE_WAIT or STORE_NOT_FOUND. Otherwise like keyspace_get(). */
enum store_result keyspace_get_cached(const struct keyspace *keyspace, struct bytes key,
                                      rocksdb_pinnableslice_t **ret_value);
/* Applies a batch: in the log's buffer and visible to readers, but not durable.
 *
 * Returns STORE_OK
 *         STORE_WAIT  RocksDB slows writers down until it has flushed or compacted: nothing was
 *                     written
 *         STORE_IO. Thread-safe. */
enum store_result keyspace_write(struct keyspace *keyspace, rocksdb_writebatch_t *batch);
/* Flushes the log; with `sync`, all earlier writes are then durable. Waits for the disk. Called by
 * the syncer. */
enum store_result keyspace_write_log(const struct keyspace *keyspace, bool sync);

/* Creates the folder `path`, which must not exist, with the newest state or a later one: its tables
 * are hard links, so they remain when RocksDB deletes the originals. Waits for the disk.
 *
 * Returns STORE_OK, STORE_FULL, STORE_SHORTAGE, STORE_IO (logged). */
enum store_result keyspace_checkpoint(const struct keyspace *keyspace, const char *path);

/* Waits a moment for RocksDB to catch up, after keyspace_write() returned STORE_WAIT. Without a
 * lock. */
void keyspace_pause(void);
/* Makes deleted records free their space soon, instead of at the next regular compaction. May wait
 * for the disk. Called by the collector. */
void keyspace_give_back(const struct keyspace *keyspace);
#ifdef LAGRA_GATES
/* Flushes the memtables, compacts everything, so that few files are open, and empties the block
 * cache. Waits for the disk. Thread-safe. */
void keyspace_drop_caches(const struct keyspace *keyspace);
#endif

/* Frees a RocksDB error and returns the result that corresponds to it; logs it unless it is
 * STORE_WAIT. */
enum store_result keyspace_error(const char *doing, char *error);

#endif
