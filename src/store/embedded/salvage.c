/* The second half of salvage: copies the newest value of each key from the scratch key space to a
 * new data folder, with the bytes of its pieces. The index of pieces is rebuilt from the records,
 * so it is correct regardless of the losses. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/endian.h"
#include "base/file.h"
#include "base/log.h"
#include "store/embedded/folder.h"
#include "store/embedded/record_seal.h"
#include "store/embedded/salvage_records.h"
#include "store/embedded/syncer.h"
#include "store/embedded/table_file.h"
#include "store/inspect.h"
#include "store/record_key.h"
#include "store/record_value.h"

#define SCRATCH_NAME     "salvage.tmp" /* in the new folder, while it is being created */
#define RECORD_ARENA_MAX (1u << 30)

struct target {
    const struct record_sealer *sealer; /* NULL if not encrypted at rest */
    struct unsealed unsealed;
    struct keyspace records;
    struct salvage_pieces pieces;
    const struct salvage_listener *listener;
};

static enum store_result put(struct target *target, struct bytes key, struct bytes value)
{
    rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
    enum store_result result;

    rocksdb_writebatch_put(batch, key.ptr, key.len, value.ptr, value.len);
    result = salvage_write(&target->records, batch);
    rocksdb_writebatch_destroy(batch);
    return result;
}

/* Adds a reference to a piece; the first one copies its bytes. */
static enum store_result refer(struct target *target, const struct piece *piece)
{
    struct piece_row row = { .length = piece->length, .references = 0 };
    rocksdb_pinnableslice_t *found;
    char key[KEY_PIECE_SIZE], value[PIECE_ROW_SIZE_MAX];
    enum store_result result;

    key_write_piece(key, piece->extent, piece->offset);
    result = keyspace_get(&target->records, target->records.newest, STORE_MAY_BLOCK,
                          bytes_of(key, sizeof key), &found);
    if (!result) {
        struct bytes old;

        old.ptr = rocksdb_pinnableslice_value(found, &old.len);
        result = piece_row_read(old, &row) ? STORE_OK : STORE_CORRUPT;
        rocksdb_pinnableslice_destroy(found);
    } else if (result == STORE_NOT_FOUND) {
        result = salvage_copy_piece(&target->pieces, piece);
    }
    if (result)
        return result;
    row.references++;
    return put(target, bytes_of(key, sizeof key), bytes_of(value, piece_row_write(value, row)));
}

/* value: as stored; plain: decrypted if it is encrypted */
static enum store_result put_record(struct target *target, struct bytes key, struct bytes value,
                                    struct bytes plain)
{
    struct arena *arena = arena_new(RECORD_ARENA_MAX);
    const struct piece *pieces;
    struct bytes payload;
    size_t count = 0;
    enum store_result result = record_value_decode(plain, arena, &payload, &pieces, &count);

    if (result) {
        target->listener->say(target->listener->context, "a corrupt record is lost");
        result = STORE_OK;
    } else {
        for (size_t i = 0; i < count && !result; i++)
            result = refer(target, &pieces[i]);
        if (!result)
            result = put(target, key, value);
    }
    arena_free(arena);
    return result;
}

/* Adds to a counter the additions made after its newest put or delete. */
static enum store_result merge(struct target *target, const struct keyspace *scratch,
                               struct bytes key, struct bytes value)
{
    struct bytes counter = bytes_of(key.ptr + 1, key.len - 1 - 8);
    rocksdb_pinnableslice_t *found;
    rocksdb_writebatch_t *batch;
    enum store_result result;

    if (!keyspace_get(scratch, scratch->newest, STORE_MAY_BLOCK, counter, &found)) {
        size_t length;
        bool newer =
            le64_get(rocksdb_pinnableslice_value(found, &length)) > be64_get(key.ptr + key.len - 8);

        rocksdb_pinnableslice_destroy(found);
        if (newer)
            return STORE_OK;
    }
    batch = rocksdb_writebatch_create();
    rocksdb_writebatch_merge(batch, counter.ptr, counter.len, value.ptr, value.len);
    result = salvage_write(&target->records, batch);
    rocksdb_writebatch_destroy(batch);
    return result;
}

/* Called in key order: a counter's put comes before its additions. */
static enum store_result put_any(struct target *target, const struct keyspace *scratch,
                                 struct bytes key, struct bytes kept)
{
    struct bytes value, plain;

    if (kept.len < SCRATCH_HEADER || kept.ptr[8] == CHANGE_DELETE)
        return STORE_OK;
    value = plain = bytes_from(kept, SCRATCH_HEADER);
    if (record_unseal_in(target->sealer, key, &plain, &target->unsealed)) {
        target->listener->say(target->listener->context, "a corrupt record is lost");
        return STORE_OK;
    }
    switch (key.ptr[0]) {
    case KEY_KIND_LISTED:
    case KEY_KIND_INNER:
        return put_record(target, key, value, plain);
    case SCRATCH_MERGE:
        return merge(target, scratch, key, value);
    case KEY_KIND_PIECE: /* rebuilt */
        return STORE_OK;
    default:
        return put(target, key, value);
    }
}

static enum store_result put_all(struct target *target, const struct keyspace *scratch)
{
    rocksdb_iterator_t *iterator = rocksdb_create_iterator(scratch->db, scratch->newest);
    enum store_result result = STORE_OK;
    char *error = NULL;

    for (rocksdb_iter_seek_to_first(iterator); !result && rocksdb_iter_valid(iterator);
         rocksdb_iter_next(iterator)) {
        struct bytes key, value;

        key.ptr = rocksdb_iter_key(iterator, &key.len);
        value.ptr = rocksdb_iter_value(iterator, &value.len);
        result = put_any(target, scratch, key, value);
    }
    rocksdb_iter_get_error(iterator, &error);
    if (error)
        result = keyspace_error("read the salvaged data", error);
    rocksdb_iter_destroy(iterator);
    return result;
}

/* ---- the folders ---- */

/* Copies records and pieces between open folders. */
static enum store_result salvage(int from, const struct folder *to, const char *scratch_at,
                                 const struct salvage_listener *listener, const char **ret_problem)
{
    struct record_sealer *sealer = record_sealer_new(to->keyring);
    struct target target = { .sealer = sealer,
                             .listener = listener,
                             .pieces = { .to = to->extents } };
    struct keyspace scratch;
    uint64_t durable = 0;
    int synced = -1;
    enum store_result result;

    if (faccessat(from, "synced", R_OK, 0) == 0 && syncer_open_record(from, &synced, &durable))
        synced = -1;
    target.pieces.from = openat(from, "extents", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    result = keyspace_open(scratch_at, NULL, 0, KEYSPACE_NEW, &scratch, ret_problem);
    if (result)
        goto out;
    result = keyspace_open(to->records_path, NULL, 0, KEYSPACE_NEW, &target.records, ret_problem);
    if (!result) {
        *ret_problem = "the new folder cannot be written";
        result = salvage_records(from, synced, durable, &scratch, listener);
        if (!result)
            result = put_all(&target, &scratch);
        if (salvage_finish_pieces(&target.pieces) && !result)
            result = STORE_IO;
        keyspace_close(&target.records);
    }
    keyspace_discard(&scratch, scratch_at);
out:
    if (target.pieces.from >= 0)
        close(target.pieces.from);
    if (synced >= 0)
        close(synced);
    free(target.unsealed.bytes);
    record_sealer_free(sealer);
    return result;
}

/* Keeps a server from writing to the folder in the meantime. */
static enum store_result lock_source(int from, int *ret_lock, const char **ret_problem)
{
    int fd = openat(from, "lock", O_RDONLY | O_CLOEXEC);

    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
        close(fd);
        *ret_problem = "another process is using this data directory";
        return STORE_BUSY;
    }
    *ret_lock = fd;
    return STORE_OK;
}

/* Checks that the keys of the folder can be read, if it has any, before anything is written. */
static enum store_result check_keys(int from, const struct master_keys *masters, bool *ret_has_keys,
                                    const char **ret_problem)
{
    struct keyring *keyring = NULL;
    enum store_result result = keyring_open(from, masters, KEYRING_LOOK, &keyring, ret_problem);

    *ret_has_keys = !result && keyring;
    keyring_free(keyring);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

enum store_result store_salvage(const char *from, const char *to, const struct master_keys *masters,
                                const struct salvage_listener *listener, const char **ret_problem)
{
    struct store_options options = { .location = to };
    int from_fd = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum store_result result;
    struct folder folder;
    bool has_keys = false;
    const char *doubt;
    char *path;
    int lock;

    if (from_fd < 0) {
        *ret_problem = strerror(errno);
        return STORE_IO;
    }
    result = folder_is_ours(from_fd, ret_problem, &doubt);
    if (!result && doubt)
        listener->say(listener->context, doubt);
    if (!result)
        result = check_keys(from_fd, masters, &has_keys, ret_problem);
    if (!result)
        result = lock_source(from_fd, &lock, ret_problem);
    if (result)
        goto close_from;
    if (has_keys) {
        options.master_keys = masters;
        options.keys_from = from;
    }
    result = folder_open(&options, FOLDER_FILL, &folder, ret_problem);
    if (result)
        goto unlock;
    path = file_path(to, SCRATCH_NAME);
    result = salvage(from_fd, &folder, path, listener, ret_problem);
    if (!result)
        result = folder_sync(&folder, ret_problem);
    free(path);
    keyring_free(folder.keyring);
    close(folder.extents);
    close(folder.lock_file);
    folder_release(&folder);
unlock:
    if (lock >= 0)
        close(lock);
close_from:
    close(from_fd);
    return result;
}
