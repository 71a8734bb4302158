/* RocksDB as used by the embedded store; README.md has the reasons for the options. */
#include "store/embedded/keyspace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/thread.h"
#include "store/embedded/interposed.h"

#define CACHE_BYTES_DEFAULT   (32u << 20)
#define CACHE_SHARD_BITS      2
#define TABLES_SHARD_BITS     2
#define WRITE_BUFFER_BLOOM    0.02 /* of a buffer */
#define BLOCK_BYTES           (4u << 10)
#define BLOOM_BITS            10
#define LOG_FILE_BYTES        (256u << 10)
#define COMPACTION_READ_BYTES (128u << 10) /* of each table being compacted */
#define ARENA_BLOCKS          64u          /* of a memtable */
#define STALL_POLL_NS         2000000u
#define LOG_FRAGMENT_HEADER   7u
/* A file with this many deleted records among this many consecutive ones is compacted soon. A page
 * that steps over that many takes some milliseconds; with a tenth of it, every flush of a busy
 * queue was merged with everything waiting there. */
#define DELETION_WINDOW       65536
#define DELETIONS_MAX         50000

/* Options for which the C interface has no function. The promises that depend on them:
 *
 * track_and_verify_wals_in_manifest: distinguishes a log that is missing, empty or truncated while
 * a newer one exists from one whose end was never synced. The length of a log is recorded in the
 * MANIFEST when it is closed and synced; log_chain.c and RocksDB both compare the file with it.
 * Never together with a lower max_manifest_file_size: RocksDB 7.8 forgets closed logs when it
 * begins a new MANIFEST, and then refuses an undamaged folder.
 * file_checksum_gen_factory: detects tables with exchanged blocks (table_sums.h).
 * memtable_insert_with_hint_prefix_extractor: a record is inserted near the newest one whose key
 * begins with the same kind, space and, if the partition key is empty (2 bytes of its end), kind of
 * record (record_key.h): a queue's messages arrive in key order. */
#define NAMED_OPTIONS                                                                              \
    "track_and_verify_wals_in_manifest=true;"                                                      \
    "file_checksum_gen_factory=FileChecksumGenCrc32cFactory;"                                      \
    "memtable_insert_with_hint_prefix_extractor=rocksdb.CappedPrefix.20"

enum { CHECKSUM_CRC32C = 1, TIER_BLOCK_CACHE = 1 };
enum { WAL_POINT_IN_TIME = 2, INFO_LEVEL_WARN = 2 };

enum store_result keyspace_error(const char *doing, char *error)
{
    static const char incomplete[] = "Result incomplete";
    enum store_result result = STORE_IO;

    /* The status of writes that do not wait, and of reads that interposed.c did not allow to
     * wait. */
    if (strncmp(error, incomplete, sizeof incomplete - 1) == 0 ||
        strstr(error, strerrordesc_np(EAGAIN))) {
        rocksdb_free(error);
        return STORE_WAIT;
    }
    if (strncmp(error, "Corruption", 10) == 0)
        result = STORE_CORRUPT;
    else if (strstr(error, strerrordesc_np(EMFILE)) || strstr(error, strerrordesc_np(ENFILE)) ||
             strstr(error, strerrordesc_np(ENOMEM)))
        result = STORE_SHORTAGE;
    else if (strstr(error, strerrordesc_np(ENOSPC)) || strstr(error, strerrordesc_np(EDQUOT)))
        result = STORE_FULL;
    log_line(LOG_ERROR, "store: %s: %s", doing, error);
    rocksdb_free(error);
    return result;
}

static rocksdb_cache_t *set_table_options(rocksdb_options_t *options, size_t cache_bytes)
{
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    rocksdb_lru_cache_options_t *cache_options = rocksdb_lru_cache_options_create();
    rocksdb_cache_t *cache;

    rocksdb_lru_cache_options_set_capacity(cache_options,
                                           cache_bytes > 0 ? cache_bytes : CACHE_BYTES_DEFAULT);
    rocksdb_lru_cache_options_set_num_shard_bits(cache_options, CACHE_SHARD_BITS);
    cache = rocksdb_cache_create_lru_opts(cache_options);
    rocksdb_lru_cache_options_destroy(cache_options);
    rocksdb_block_based_options_set_block_cache(table, cache);
    rocksdb_block_based_options_set_block_size(table, BLOCK_BYTES);
    rocksdb_block_based_options_set_filter_policy(
        table, rocksdb_filterpolicy_create_bloom_full(BLOOM_BITS));
    /* Index and filter blocks count as cache, so memory is bounded for any number of records. They
     * are partitioned, so that a lookup needs 4 KiB of each, instead of a MiB of a table's index
     * that does not fit into the cache. Promise: salvage knows both formats (table_file.h). */
    rocksdb_block_based_options_set_index_type(
        table, rocksdb_block_based_table_index_type_two_level_index_search);
    rocksdb_block_based_options_set_partition_filters(table, 1);
    rocksdb_block_based_options_set_pin_top_level_index_and_filter(table, 1);
    rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 1);
    rocksdb_block_based_options_set_pin_l0_filter_and_index_blocks_in_cache(table, 1);
    rocksdb_block_based_options_set_format_version(table, 5);
    /* Promise: salvage reads blocks of tables without RocksDB (table_file.h), with our own
     * CRC-32C. */
    rocksdb_block_based_options_set_checksum(table, CHECKSUM_CRC32C);
    rocksdb_options_set_block_based_table_factory(options, table);
    rocksdb_block_based_options_destroy(table);
    return cache;
}

/* Keeps flushes and compactions within the reserve of disk_space.h: sizes.h. */
static void set_sizes(rocksdb_options_t *options, const struct sizes *sizes)
{
    rocksdb_options_set_write_buffer_size(options, sizes->memtable);
    rocksdb_options_set_max_write_buffer_number(options, SIZES_MEMTABLES);
    rocksdb_options_set_arena_block_size(options, sizes->memtable / ARENA_BLOCKS);
    rocksdb_options_set_level0_file_num_compaction_trigger(options, sizes->level0_compact);
    /* No slowdown before the stop: small tables soon accumulate again, and RocksDB lowers the rate
     * each time. */
    rocksdb_options_set_level0_slowdown_writes_trigger(options, sizes->level0_stop);
    rocksdb_options_set_level0_stop_writes_trigger(options, sizes->level0_stop);
    rocksdb_options_set_max_bytes_for_level_base(options, sizes->level1);
    rocksdb_options_set_target_file_size_base(options, sizes->table);
    rocksdb_options_set_target_file_size_multiplier(options, 2);
    rocksdb_options_set_max_compaction_bytes(options, sizes->compaction);
    rocksdb_options_set_writable_file_max_buffer_size(options, sizes->log_buffer);
    rocksdb_options_set_manifest_preallocation_size(options, sizes->manifest);
}

static rocksdb_options_t *new_options(const struct sizes *sizes)
{
    rocksdb_options_t *options = rocksdb_options_create();

    /* Promise: damage that RocksDB can detect is an error, in opening and in reading. */
    rocksdb_options_set_paranoid_checks(options, 1);
    rocksdb_options_set_compression(options, rocksdb_no_compression);
    set_sizes(options, sizes);
    rocksdb_options_set_memtable_whole_key_filtering(options, 1);
    rocksdb_options_set_memtable_prefix_bloom_size_ratio(options, WRITE_BUFFER_BLOOM);
    rocksdb_options_set_max_background_jobs(options, 2);
    rocksdb_options_set_max_open_files(options, KEYSPACE_TABLES_OPEN);
    /* Tables that scans hold open can only be replaced within their own shard. */
    rocksdb_options_set_table_cache_numshardbits(options, TABLES_SHARD_BITS);
    rocksdb_options_set_max_file_opening_threads(options, 1);
    rocksdb_options_set_skip_stats_update_on_db_open(options, 1);
    rocksdb_options_set_bytes_per_sync(options, 1u << 20);
    rocksdb_options_compaction_readahead_size(options, COMPACTION_READ_BYTES);
    rocksdb_options_set_enable_write_thread_adaptive_yield(options, 0);
    /* The syncer writes the log, not each commit. */
    rocksdb_options_set_manual_wal_flush(options, 1);
    /* Promise: a commit never survives without the one it was decided on. Logs are read up to the
     * first incomplete record. */
    rocksdb_options_set_wal_recovery_mode(options, WAL_POINT_IN_TIME);
    /* An iterator steps over every deleted record before the next existing one. */
    rocksdb_options_add_compact_on_deletion_collector_factory(options, DELETION_WINDOW,
                                                              DELETIONS_MAX);
    /* Counters: 8 bytes, little-endian, added modulo 2^64. */
    rocksdb_options_set_uint64add_merge_operator(options);
    rocksdb_options_set_stats_dump_period_sec(options, 0);
    rocksdb_options_set_stats_persist_period_sec(options, 0);
    rocksdb_options_set_info_log_level(options, INFO_LEVEL_WARN);
    rocksdb_options_set_max_log_file_size(options, LOG_FILE_BYTES);
    rocksdb_options_set_keep_log_file_num(options, 2);
    return options;
}

rocksdb_readoptions_t *read_options_new(const rocksdb_snapshot_t *state)
{
    rocksdb_readoptions_t *read = rocksdb_readoptions_create();

    /* Promise: store invariant 5, for records. */
    rocksdb_readoptions_set_verify_checksums(read, 1);
    if (state)
        rocksdb_readoptions_set_snapshot(read, state);
    return read;
}

void read_options_set_access(rocksdb_readoptions_t *read, struct store_access access)
{
    if (!access.may_block && file_reads_may_wait())
        rocksdb_readoptions_set_read_tier(read, TIER_BLOCK_CACHE);
}

/* Returns all options; NULL if this RocksDB does not know one that a promise depends on. */
static rocksdb_options_t *make_options(const struct sizes *sizes)
{
    rocksdb_options_t *base = new_options(sizes);
    rocksdb_options_t *options = rocksdb_options_create();
    char *error = NULL;

    rocksdb_get_options_from_string(base, NAMED_OPTIONS, options, &error);
    rocksdb_options_destroy(base);
    if (!error)
        return options;
    keyspace_error("set the options of RocksDB", error);
    rocksdb_options_destroy(options);
    return NULL;
}

enum store_result keyspace_open(const char *path, const struct sizes *sizes, size_t cache_bytes,
                                enum keyspace_mode mode, struct keyspace *ret_keyspace,
                                const char **ret_problem)
{
    struct sizes largest = sizes_of(SIZES_RESERVE_USEFUL, false);
    struct keyspace keyspace = { .options = make_options(sizes ? sizes : &largest) };
    char *error = NULL;
    enum store_result result;

    if (!keyspace.options) {
        *ret_problem = "this RocksDB lacks an option that the store needs";
        return STORE_IO;
    }
    rocksdb_options_set_create_if_missing(keyspace.options, mode == KEYSPACE_NEW);
    keyspace.cache = set_table_options(keyspace.options, cache_bytes);
    keyspace.db = mode == KEYSPACE_READ_ONLY
                      ? rocksdb_open_for_read_only(keyspace.options, path, 0, &error)
                      : rocksdb_open(keyspace.options, path, &error);
    if (error) {
        result = keyspace_error("open the records", error);
        *ret_problem = result == STORE_CORRUPT ? "the records in the data directory are damaged"
                       : result == STORE_FULL
                           ? "the disk is full"
                           : "the records in the data directory cannot be opened";
        rocksdb_cache_destroy(keyspace.cache);
        rocksdb_options_destroy(keyspace.options);
        return result;
    }
    keyspace.level1 = sizes ? sizes->level1 : largest.level1;
    keyspace.newest = read_options_new(NULL);
    keyspace.write = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_no_slowdown(keyspace.write, 1);
    /* a read-only one writes nothing, so it joins no checksums, and it may wait */
    if (mode != KEYSPACE_READ_ONLY)
        keyspace_prove_reads(&keyspace);
    *ret_keyspace = keyspace;
    return STORE_OK;
}

void keyspace_set_levels(struct keyspace *keyspace, const struct sizes *sizes)
{
    static const char *const names[] = { "level0_file_num_compaction_trigger",
                                         "level0_slowdown_writes_trigger",
                                         "level0_stop_writes_trigger", "max_bytes_for_level_base" };
    char compact[16], stop[16], level1[24];
    const char *const values[] = { compact, stop, stop, level1 };
    char *error = NULL;

    if (keyspace->level1 == sizes->level1)
        return;
    keyspace->level1 = sizes->level1;
    snprintf(compact, sizeof compact, "%d", sizes->level0_compact);
    snprintf(stop, sizeof stop, "%d", sizes->level0_stop);
    snprintf(level1, sizeof level1, "%zu", sizes->level1);
    rocksdb_set_options(keyspace->db, sizeof names / sizeof names[0], names, values, &error);
    if (error) /* they apply now, but are not recorded in the folder, where a start does not look */
        keyspace_error("change the sizes of levels", error);
}

void keyspace_prove_reads(const struct keyspace *keyspace)
{
    uint64_t bytes = 0;

    (void)rocksdb_property_int(keyspace->db, "rocksdb.total-sst-files-size", &bytes);
    interposed_prove(bytes > 0 ? STAGE_TABLES_READ : STAGE_OPEN);
}

bool keyspace_is_busy(const struct keyspace *keyspace)
{
    static const char *const properties[] = { "rocksdb.mem-table-flush-pending",
                                              "rocksdb.num-running-flushes",
                                              "rocksdb.compaction-pending",
                                              "rocksdb.num-running-compactions" };
    uint64_t value;

    for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++)
        if (rocksdb_property_int(keyspace->db, properties[i], &value) == 0 && value > 0)
            return true;
    return false;
}

/* Flushes the memtables, so that the next start has no log to replay. */
static void flush(const struct keyspace *keyspace)
{
    rocksdb_flushoptions_t *options = rocksdb_flushoptions_create();
    char *error = NULL;

    rocksdb_flushoptions_set_wait(options, 1);
    rocksdb_flush(keyspace->db, options, &error);
    rocksdb_flushoptions_destroy(options);
    if (error)
        keyspace_error("write records out", error); /* they are in the log */
}

void keyspace_give_back(const struct keyspace *keyspace)
{
    static const char first[] = { 0 }, last[] = { (char)0xff };
    char *error = NULL;

    flush(keyspace);
    /* Marks the files for compaction, which RocksDB performs when it has time. */
    rocksdb_suggest_compact_range(keyspace->db, first, sizeof first, last, sizeof last, &error);
    if (error)
        keyspace_error("compact records", error);
}

#ifdef LAGRA_GATES
void keyspace_drop_caches(const struct keyspace *keyspace)
{
    size_t capacity = rocksdb_cache_get_capacity(keyspace->cache);

    flush(keyspace);
    rocksdb_compact_range(keyspace->db, NULL, 0, NULL, 0);
    rocksdb_cache_set_capacity(keyspace->cache, 0);
    rocksdb_cache_set_capacity(keyspace->cache, capacity);
}
#endif

static void release(struct keyspace *keyspace)
{
    rocksdb_readoptions_destroy(keyspace->newest);
    rocksdb_writeoptions_destroy(keyspace->write);
    rocksdb_close(keyspace->db);
    rocksdb_cache_destroy(keyspace->cache);
}

void keyspace_close(struct keyspace *keyspace)
{
    flush(keyspace);
    release(keyspace);
    rocksdb_options_destroy(keyspace->options);
}

void keyspace_close_read_only(struct keyspace *keyspace)
{
    release(keyspace);
    rocksdb_options_destroy(keyspace->options);
}

void keyspace_discard(struct keyspace *keyspace, const char *path)
{
    char *error = NULL;

    release(keyspace);
    rocksdb_destroy_db(keyspace->options, path, &error);
    rocksdb_options_destroy(keyspace->options);
    if (error)
        keyspace_error("delete a scratch key space", error);
}

uint64_t keyspace_version(const struct keyspace *keyspace)
{
    uint64_t version = 0;

    (void)rocksdb_property_int(keyspace->db, "rocksdb.current-super-version-number", &version);
    return version;
}

uint64_t keyspace_logged(const struct keyspace *keyspace)
{
    return atomic_load_explicit(&keyspace->logged, memory_order_relaxed);
}

uint64_t keyspace_sequence(const struct keyspace *keyspace)
{
    return rocksdb_get_latest_sequence_number(keyspace->db);
}

static void enter(enum file_reads reads)
{
    static _Thread_local bool entered;

    /* A per-thread counter costs more than the comparison of two keys that it counts. */
    if (!entered)
        rocksdb_set_perf_level(rocksdb_disable);
    entered = true;
    file_reads_are(reads);
}

static enum file_reads reads_of(struct store_access access)
{
    return access.may_block ? READ_ALL : READ_PAGE_CACHE;
}

void keyspace_enter(struct store_access access)
{
    enter(reads_of(access));
}

void keyspace_leave(void)
{
    file_reads_are(READ_ALL);
}

static enum store_result get(const struct keyspace *keyspace, const rocksdb_readoptions_t *read,
                             enum file_reads reads, struct bytes key,
                             rocksdb_pinnableslice_t **ret_value)
{
    char *error = NULL;

    if (reads != READ_ALL && file_reads_may_wait())
        return STORE_WAIT;
    enter(reads);
    *ret_value = rocksdb_get_pinned(keyspace->db, read, key.ptr, key.len, &error);
    keyspace_leave();
    if (error)
        return keyspace_error("read a record", error);
    return *ret_value ? STORE_OK : STORE_NOT_FOUND;
}

enum store_result keyspace_get(const struct keyspace *keyspace, const rocksdb_readoptions_t *read,
                               struct store_access access, struct bytes key,
                               rocksdb_pinnableslice_t **ret_value)
{
    return get(keyspace, read, reads_of(access), key, ret_value);
}

enum store_result keyspace_get_cached(const struct keyspace *keyspace, struct bytes key,
                                      rocksdb_pinnableslice_t **ret_value)
{
    return get(keyspace, keyspace->newest, READ_NOTHING, key, ret_value);
}

enum store_result keyspace_write(struct keyspace *keyspace, rocksdb_writebatch_t *batch)
{
    char *error = NULL;
    size_t size;

    keyspace_enter(STORE_MAY_BLOCK);
    rocksdb_write(keyspace->db, keyspace->write, batch, &error);
    if (error)
        return keyspace_error("write records", error);
    (void)rocksdb_writebatch_data(batch, &size);
    atomic_fetch_add_explicit(&keyspace->logged, size + LOG_FRAGMENT_HEADER, memory_order_relaxed);
    return STORE_OK;
}

void keyspace_pause(void)
{
    thread_sleep_ns(STALL_POLL_NS);
}

enum store_result keyspace_write_log(const struct keyspace *keyspace, bool sync)
{
    char *error = NULL;

    rocksdb_flush_wal(keyspace->db, sync, &error);
    return error ? keyspace_error("write the log of records", error) : STORE_OK;
}

enum store_result keyspace_checkpoint(const struct keyspace *keyspace, const char *path)
{
    char *error = NULL;
    rocksdb_checkpoint_t *checkpoint = rocksdb_checkpoint_object_create(keyspace->db, &error);

    if (!error) {
        keyspace_enter(STORE_MAY_BLOCK);
        rocksdb_checkpoint_create(checkpoint, path, /* log_size_for_flush= */ 0, &error);
        rocksdb_checkpoint_object_destroy(checkpoint);
    }
    return error ? keyspace_error("create a checkpoint of the records", error) : STORE_OK;
}
