/* Opens and closes the embedded store: the data folder, its lock, and the order in which the parts
 * are started and stopped. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "store/embedded/backup.h"
#include "store/embedded/counters.h"
#include "store/embedded/embedded_private.h"
#include "store/embedded/folder.h"
#include "store/embedded/interposed.h"
#include "store/embedded/piece_read.h"
#include "store/embedded/records_proof.h"

static void failed(void *context)
{
    embedded_fail(context);
}

static bool embedded_healthy(struct store *store)
{
    return !atomic_load(&embedded_of(store)->failed);
}

static bool embedded_wants_reopening(struct store *store)
{
    return atomic_load(&embedded_of(store)->starved) && embedded_healthy(store);
}

static bool embedded_is_full(struct store *store)
{
    struct disk_space *space = &embedded_of(store)->space;

    return !disk_space_admits(space, 0, 0) || disk_space_is_low(space);
}

static void embedded_wait_durable(struct store *store, uint64_t sequence, struct waiter *waiter)
{
    syncer_wait(&embedded_of(store)->syncer, sequence, waiter);
}

static enum store_result embedded_durable(struct store *store, uint64_t sequence)
{
    if (syncer_covers(&embedded_of(store)->syncer, sequence))
        return STORE_OK;
    return embedded_healthy(store) ? STORE_WAIT : STORE_IO;
}

#ifdef LAGRA_GATES
static void embedded_drop_caches(struct store *store)
{
    struct embedded *embedded = embedded_of(store);

    collector_wait(&embedded->collector);
    for (unsigned i = 0; i < SPACE_ROUNDS; i++)
        spaces_end_round(&embedded->spaces);
    for (size_t i = 0; i < STRIPES; i++)
        stripe_forget_front(&embedded->stripes[i]);
    record_cache_empty(embedded->records);
    keyspace_drop_caches(&embedded->keyspace);
}
#endif

static void free_embedded(struct embedded *embedded)
{
    close(embedded->lock_file);
    record_sealer_free(embedded->sealer);
    keyring_free(embedded->store.keyring);
    free(embedded->backup_records);
    free(embedded);
}

static void embedded_close(struct store *store)
{
    struct embedded *embedded = embedded_of(store);

    embedded_checkpoint_clock(store);
    io_pool_stop(&embedded->io);
    stage_hasher_stop(&embedded->hasher);
    extent_syncer_stop(&embedded->extent_syncer);
    collector_stop(&embedded->collector);
    recovery_release(embedded); /* if its thread never ran */
    syncer_stop(&embedded->syncer);
    table_keeper_stop(&embedded->keeper);
    manifest_guard_stop(&embedded->guard);
    io_pool_release(&embedded->io);
    reclaim_release(&embedded->reclaim);
    states_release(embedded);
    space_watch_release(&embedded->watch);
    collector_release(&embedded->collector);
    stripes_free(embedded->stripes);
    record_cache_free(embedded->records);
    deferred_release(&embedded->deferred);
    spaces_release(&embedded->spaces);
    verified_release(&embedded->verified);
    keyspace_close(&embedded->keyspace);
    manifest_guard_close(&embedded->guard);
    table_keeper_close(&embedded->keeper);
    table_proof_end(&embedded->tables);
    extents_release(&embedded->extents);
    disk_space_close(&embedded->space);
    close(embedded->extents.folder);
    close(embedded->synced);
    free_embedded(embedded);
}

/* In addition to those of RocksDB and of extents: folders, the lock, `synced`, the ballast, the
 * newest log, MANIFEST and its copy while it is recorded. */
#define DESCRIPTORS (KEYSPACE_DESCRIPTORS + EXTENTS_OPEN_MAX + 32u)
_Static_assert(DESCRIPTORS <= EMBEDDED_DESCRIPTORS_MAX, "as callers count before it is open");

static unsigned embedded_descriptors(struct store *store)
{
    (void)store;
    return DESCRIPTORS;
}

static const struct store_operations embedded_operations = {
    .close = embedded_close,
    .healthy = embedded_healthy,
    .wants_reopening = embedded_wants_reopening,
    .is_full = embedded_is_full,
    .figures = embedded_figures,
    .descriptors = embedded_descriptors,
    .read_view_open = embedded_snapshot_open,
    .read_view_close = embedded_snapshot_close,
    .read_view_is_newest = embedded_snapshot_is_newest,
    .get = embedded_get,
    .get_ahead = embedded_get_ahead,
    .commit = embedded_commit,
    .wait_durable = embedded_wait_durable,
    .durable = embedded_durable,
    .scan_cursor = embedded_scan_cursor,
    .space_cursor = embedded_space_cursor,
    .cursor_seek = embedded_cursor_seek,
    .cursor_next = embedded_cursor_next,
    .cursor_close = embedded_cursor_close,
    .row_cursor = embedded_row_cursor,
    .delete_row = embedded_delete_row,
    .checkpoint_clock = embedded_checkpoint_clock,
    .count = embedded_count,
    .stage_open = embedded_stage_open,
    .stage_write = embedded_stage_write,
    .stage_finish = embedded_stage_finish,
    .stage_pieces = embedded_stage_pieces,
    .stage_close = embedded_stage_close,
    .piece_read = embedded_piece_read,
    .piece_check = embedded_piece_check,
    .piece_give = embedded_piece_give,
    .piece_is_lent = embedded_piece_is_lent,
    .hold_space = embedded_hold_space,
    .restart_decisions = embedded_restart_decisions,
    .release_space = embedded_release_space,
    .backup_begin = embedded_backup_begin,
    .backup_copied = embedded_backup_copied,
    .backup_end = embedded_backup_end,
    .freeze = embedded_freeze,
    .thaw = embedded_thaw,
    .frozen_snapshot = embedded_frozen_snapshot,
    .frozen_cursor = embedded_frozen_cursor,
    .frozen_count = embedded_frozen_count,
    .keep_state = embedded_keep_state,
    .drop_state = embedded_drop_state,
    .return_to = embedded_return_to,
    .collect_now = embedded_collect_now,
    .inspect = embedded_inspect,
#ifdef LAGRA_GATES
    .drop_caches = embedded_drop_caches,
#endif
};

/* The first finding is part of the message of the refused start. */
static void log_finding(void *context, const char *sentence)
{
    const struct damage *damage = context;

    if (damage->count > 0)
        log_line(LOG_ERROR, "store: %s", sentence);
}

/* Explains to the operator why a folder is refused. Unreadable data need not be damaged: the cause,
 * which is in the log, may be temporary. Called on the startup thread. decision: 214 */
static const char *explain(const struct damage *damage, enum store_result result)
{
    static char text[1024];

    snprintf(text, sizeof text,
             "%s%s.\n  Nothing was changed. %s; else "
             "save what can be read:\n  lagra check --salvage FOLDER NEW-FOLDER",
             damage->first, damage->count > 1 ? " (and more, in the log)" : "",
             result == STORE_CORRUPT
                 ? "If a backup has the file, restore it"
                 : "If the cause, which is in the log, is temporary, start again");
    return text;
}

/* A new MANIFEST, its copy and a log. */
#define OPENING_BYTES (1u << 20)

/* Ensures that there is space for opening: RocksDB writes the contents of the logs to tables before
 * it deletes them. On a full disk that would fail half way, and terminate the process by an
 * assertion. */
static enum store_result claim_room(struct embedded *embedded, const struct folder *folder,
                                    const char **ret_problem)
{
    int records = openat(folder->fd, "records", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    uint64_t logs = 0;
    enum store_result result = STORE_OK;

    if (records >= 0) {
        result = records_log_bytes(records, &logs);
        close(records);
    }
    if (result)
        return result;
    if (disk_space_is_low(&embedded->space))
        records_empty_aside(folder->fd);
    return disk_space_claim(&embedded->space, logs + logs / 8 + OPENING_BYTES, ret_problem);
}

/* For a new key space RocksDB would sync each of its files and their folder one after another,
 * twelve times before there is any data to lose. Instead, all are synced together at the end. If
 * the start is interrupted before, the next one treats the key space as new (records_proof.h). */
static enum store_result open_keyspace(struct embedded *embedded, const struct folder *folder,
                                       size_t cache_bytes, bool is_new, const char **ret_problem)
{
    struct sizes sizes = sizes_of(embedded->space.reserve, disk_space_is_roomy(&embedded->space));
    enum store_result result;

    if (!is_new)
        return keyspace_open(folder->records_path, &sizes, cache_bytes, KEYSPACE_EXISTS,
                             &embedded->keyspace, ret_problem);
    file_syncs_are(SYNC_LATER);
    result = keyspace_open(folder->records_path, &sizes, cache_bytes, KEYSPACE_NEW,
                           &embedded->keyspace, ret_problem);
    file_syncs_are(SYNC_NOW);
    if (result)
        return result;
    result = records_sync_all(folder->fd);
    if (result) {
        *ret_problem = "the data directory cannot be written";
        keyspace_close(&embedded->keyspace);
    }
    return result;
}

/* Verifies all tables now if RocksDB reads them without our pread(). */
static enum store_result prove_unasked(struct embedded *embedded)
{
    bool all = true;

    for (size_t i = 0; i < embedded->tables.count && all && file_reads_may_wait(); i++)
        all = table_proof_finish(&embedded->tables, i, NULL);
    return all ? STORE_OK : STORE_IO;
}

static enum store_result open_tables(struct embedded *embedded, const struct folder *folder,
                                     const struct store_options *options,
                                     const struct records_proof *proof, const char **ret_problem)
{
    enum store_result result =
        table_proof_begin(&embedded->tables, folder->fd, proof->unproven, proof->unproven_count);

    if (result)
        return result;
    result = open_keyspace(embedded, folder, options->cache_bytes, proof->is_new, ret_problem);
    if (result)
        return result;
    result = prove_unasked(embedded);
    if (!result && keyspace_sequence(&embedded->keyspace) < proof->sequence) {
        log_line(LOG_ERROR, "store: RocksDB read the records up to %llu, there are %llu",
                 (unsigned long long)keyspace_sequence(&embedded->keyspace),
                 (unsigned long long)proof->sequence);
        *ret_problem = "RocksDB does not read all existing records";
        result = STORE_CORRUPT;
    }
    if (result)
        keyspace_close(&embedded->keyspace);
    return result;
}

static uint64_t whole_bytes_of(const struct store_options *options)
{
    return options->whole_bytes > 0 ? options->whole_bytes : PROOF_WHOLE_BYTES;
}

/* Opens the records, after verifying that they are complete. */
static enum store_result open_records(struct embedded *embedded, const struct folder *folder,
                                      uint64_t durable, const struct store_options *options,
                                      const char **ret_problem)
{
    struct damage damage = { .say = log_finding, .context = &damage };
    struct records_proof proof = { .is_new = false };
    enum store_result result;

    /* Descriptors for files that the verification moves and repairs. */
    result = disk_space_claim(&embedded->space, OPENING_BYTES, ret_problem);
    if (result)
        return result;
    *ret_problem = "the data directory cannot be read";
    result = records_prove(folder->fd, embedded->synced, durable, PROOF_MEND,
                           whole_bytes_of(options), &damage, &proof);
    if (damage.count > 0 && !result)
        log_line(LOG_ERROR, "store: %s", damage.first);
    if (damage.count > 0)
        *ret_problem = explain(&damage, result);
    damage_release(&damage);
    if (!result && proof.has_logs)
        result = syncer_record_start(folder->fd, embedded->synced, proof.sequence);
    if (!result)
        result = claim_room(embedded, folder, ret_problem);
    if (!result)
        result = open_tables(embedded, folder, options, &proof, ret_problem);
    free(proof.unproven);
    return result;
}

struct folder_syncing {
    const struct folder *folder;
    enum store_result result;
    const char *problem;
};

static void *sync_folder(void *argument)
{
    struct folder_syncing *syncing = argument;

    syncing->result = folder_sync(syncing->folder, &syncing->problem);
    return NULL;
}

/* Makes the folder's names durable while the records are opened, which waits for the disk too. */
static enum store_result open_synced(struct embedded *embedded, const struct folder *folder,
                                     const struct store_options *options, const char **ret_problem)
{
    struct folder_syncing syncing = { .folder = folder };
    struct thread thread;
    uint64_t durable;
    enum store_result result = syncer_open_record(folder->fd, &embedded->synced, &durable);
    bool is_apart;

    *ret_problem = "the data directory cannot be read";
    if (result)
        return result;
    is_apart = thread_start(&thread, sync_folder, &syncing);
    result = open_records(embedded, folder, durable, options, ret_problem);
    thread_join(&thread);
    if (!is_apart)
        sync_folder(&syncing);
    if (!result && syncing.result) {
        *ret_problem = syncing.problem;
        keyspace_close(&embedded->keyspace);
        result = syncing.result;
    }
    if (result)
        close(embedded->synced);
    return result;
}

/* Everything that can fail, before any thread runs. */
static enum store_result open_parts(struct embedded *embedded, const struct folder *folder,
                                    const struct store_options *options, const char **ret_problem)
{
    enum store_result result;

    backup_remove_records(folder->fd);
    result = disk_space_open(&embedded->space, folder->fd, options->disk_reserve, collector_poke,
                             &embedded->collector, ret_problem);
    if (result) {
        close(folder->extents);
        return result;
    }
    result = open_synced(embedded, folder, options, ret_problem);
    if (result)
        goto close_extents;
    result = extents_open(&embedded->extents, folder->extents, ret_problem);
    if (result)
        goto close_records;
    result = recovery_begin(embedded);
    *ret_problem = result == STORE_CORRUPT ? "the records in the data directory are damaged"
                                           : "the records in the data directory cannot be read";
    if (result)
        goto release;
    *ret_problem = "the data directory cannot be opened";
    result =
        manifest_guard_open(&embedded->guard, folder->fd, embedded->synced, &embedded->keyspace);
    if (result)
        goto release;
    result = table_keeper_open(&embedded->keeper, folder->fd, &embedded->keyspace,
                               &embedded->tables, whole_bytes_of(options));
    if (result)
        goto close_guard;
    disk_space_tend(&embedded->space);
    return STORE_OK;
close_guard:
    manifest_guard_stop(&embedded->guard);
    manifest_guard_close(&embedded->guard);
release:
    recovery_release(embedded);
    extents_release(&embedded->extents);
close_records:
    keyspace_close(&embedded->keyspace);
    close(embedded->synced);
close_extents:
    disk_space_close(&embedded->space);
    close(folder->extents);
    return result;
}

/* Initializes every part even if its thread cannot be started, so that all can be closed in the
 * same way. */
static bool start_threads(struct embedded *embedded)
{
    bool guards = manifest_guard_start(&embedded->guard);
    bool syncs = syncer_start(&embedded->syncer, &embedded->keyspace, &embedded->guard,
                              embedded->sync, embedded->synced, failed, embedded);
    bool writes = io_pool_start(&embedded->io);
    bool hashes = stage_hasher_start(&embedded->hasher, &embedded->io);
    bool syncs_extents = extent_syncer_start(&embedded->extent_syncer, embedded);
    bool keeps = table_keeper_start(&embedded->keeper);

    return guards && syncs && keeps && writes && hashes && syncs_extents &&
           collector_start(&embedded->collector);
}

enum store_result store_open_embedded(const struct store_options *options, struct store **ret_store,
                                      const char **ret_problem)
{
    struct embedded *embedded;
    struct folder folder;
    enum folder_use use = options->must_exist ? FOLDER_CHECK : FOLDER_SERVE;
    enum store_result result = folder_open(options, use, &folder, ret_problem);

    if (result)
        return result;
    embedded = xcalloc(1, sizeof *embedded);
    embedded->store.operations = &embedded_operations;
    embedded->sync = options->sync;
    embedded->when_failed = options->failed;
    embedded->lock_file = folder.lock_file;
    embedded->backup_records = file_path(options->location, BACKUP_RECORDS);
    embedded->stripes = stripes_new();
    embedded->records = record_cache_new();
    embedded->store.deferred = &embedded->deferred;
    embedded->store.keyring = folder.keyring;
    embedded->sealer = record_sealer_new(folder.keyring);
    deferred_init(&embedded->deferred);
    spaces_init(&embedded->spaces);
    verified_init(&embedded->verified);
    collector_init(&embedded->collector, embedded);
    reclaim_init(&embedded->reclaim, collector_poke, &embedded->collector);
    states_init(embedded);
    space_watch_init(&embedded->watch);
    table_proof_init(&embedded->tables);
    result = open_parts(embedded, &folder, options, ret_problem);
    folder_release(&folder);
    if (result) {
        if (table_proof_finding(&embedded->tables)) {
            *ret_problem =
                "a file of records is damaged; the log names it. Start again: the server then "
                "verifies all files first, and reports the possible repairs";
            result = STORE_CORRUPT;
        }
        table_proof_end(&embedded->tables);
        reclaim_release(&embedded->reclaim);
        states_release(embedded);
        space_watch_release(&embedded->watch);
        collector_release(&embedded->collector);
        verified_release(&embedded->verified);
        spaces_release(&embedded->spaces);
        stripes_free(embedded->stripes);
        record_cache_free(embedded->records);
        deferred_release(&embedded->deferred);
        free_embedded(embedded);
        return result;
    }
    if (!start_threads(embedded)) {
        embedded_close(&embedded->store);
        *ret_problem = "the threads that it needs cannot be started";
        return STORE_SHORTAGE;
    }
    table_proof_on_damage(&embedded->tables, embedded_damaged, embedded);
    *ret_store = &embedded->store;
    return STORE_OK;
}
