/* Reads a backup with a read-only RocksDB, or a running store with its own: see archive.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/crc.h"
#include "base/file.h"
#include "base/log.h"
#include "store/backup.h"
#include "store/embedded/archive_private.h"
#include "store/embedded/extent_file.h"
#include "store/piece.h"
#include "store/record_key.h"
#include "store/record_value.h"

/* ---- opening ---- */

/* Opens the keys of a backup. */
static enum store_result open_keys(struct archive *archive, const char *folder,
                                   const struct master_keys *masters, const char **ret_problem)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum store_result result;

    if (fd < 0)
        return STORE_IO;
    result = keyring_open(fd, masters, KEYRING_LOOK, &archive->own_keyring, ret_problem);
    close(fd);
    archive->own_sealer = record_sealer_new(archive->own_keyring);
    archive->keyring = archive->own_keyring;
    archive->sealer = archive->own_sealer;
    /* the backup of a directory that is not encrypted needs no key */
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

static void free_keys(struct archive *archive)
{
    record_sealer_free(archive->own_sealer);
    keyring_free(archive->own_keyring);
}

enum store_result archive_open(const char *folder, const struct master_keys *masters,
                               struct archive **ret_archive, const char **ret_problem)
{
    char *list = file_path(folder, BACKUP_LIST), *records = file_path(folder, "records");
    char *extents = file_path(folder, "extents");
    struct archive *archive = xcalloc(1, sizeof *archive);
    enum store_result result = STORE_NOT_FOUND;

    archive->arena = arena_new(RECORD_ARENA_MAX);
    archive->fd = -1;
    archive->extents = open(extents, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *ret_problem = "it is not a readable backup";
    if (access(list, R_OK) == 0 && archive->extents >= 0)
        result = open_keys(archive, folder, masters, ret_problem);
    if (!result)
        result = keyspace_open(records, NULL, 0, KEYSPACE_READ_ONLY, &archive->own, ret_problem);
    archive->keyspace = &archive->own;
    if (result && archive->extents >= 0)
        close(archive->extents);
    if (result) {
        free_keys(archive);
        arena_free(archive->arena);
        free(archive);
    } else {
        *ret_archive = archive;
    }
    free(list);
    free(records);
    free(extents);
    return result;
}

struct archive *archive_of(struct store *store)
{
    struct archive *archive;

    if (!store->operations->backup_begin)
        return NULL;
    archive = xcalloc(1, sizeof *archive);
    archive->arena = arena_new(RECORD_ARENA_MAX);
    archive->store = store;
    archive->keyspace = &embedded_of(store)->keyspace;
    archive->keyring = store->keyring;
    archive->sealer = embedded_of(store)->sealer;
    archive->extents = archive->fd = -1;
    return archive;
}

void archive_close(struct archive *archive)
{
    if (archive->watches)
        space_watch_end(&embedded_of(archive->store)->watch);
    if (archive->view)
        read_view_close(archive->view);
    if (!archive->store)
        keyspace_close_read_only(&archive->own);
    if (archive->extents >= 0)
        close(archive->extents);
    if (archive->fd >= 0)
        close(archive->fd);
    free_keys(archive);
    arena_free(archive->arena);
    free(archive);
}

/* ---- rows ---- */

static struct bytes key_at(const rocksdb_iterator_t *iterator)
{
    size_t length;
    const char *key = rocksdb_iter_key(iterator, &length);

    return bytes_of(key, length);
}

static struct bytes value_at(const rocksdb_iterator_t *iterator)
{
    size_t length;
    const char *value = rocksdb_iter_value(iterator, &length);

    return bytes_of(value, length);
}

static enum store_result result_of(const rocksdb_iterator_t *iterator)
{
    char *error = NULL;

    rocksdb_iter_get_error(iterator, &error);
    return error ? keyspace_error("read a space", error) : STORE_OK;
}

static rocksdb_iterator_t *iterate(struct archive *archive, struct bytes from)
{
    rocksdb_iterator_t *iterator =
        rocksdb_create_iterator(archive->keyspace->db, archive->keyspace->newest);

    rocksdb_iter_seek(iterator, from.ptr, from.len);
    return iterator;
}

enum store_result archive_each(struct archive *archive, struct bytes prefix, archive_key_value *row,
                               void *context)
{
    rocksdb_iterator_t *iterator = iterate(archive, prefix);
    struct unsealed buffer = { .room = 0 };
    enum store_result result = STORE_OK;

    while (!result && rocksdb_iter_valid(iterator) && bytes_has_prefix(key_at(iterator), prefix)) {
        struct bytes value = value_at(iterator);

        result = record_unseal_in(archive->sealer, key_at(iterator), &value, &buffer);
        if (!result)
            result = row(context, key_at(iterator), value);
        if (!result)
            rocksdb_iter_next(iterator);
    }
    if (!result)
        result = result_of(iterator);
    rocksdb_iter_destroy(iterator);
    free(buffer.bytes);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

/* ---- partitions ---- */

bool archive_unescape(struct arena *arena, struct bytes escaped, struct bytes *ret_key)
{
    char *key = arena_bytes(arena, escaped.len + 1);

    ret_key->ptr = key;
    return key_unescape(escaped, key, &ret_key->len);
}

/* Returns the escaped key of the first partition with records of this family at or after the
 * row. */
static enum store_result first_partition(struct archive *archive, enum record_family family,
                                         struct guid space, const struct bytes *after,
                                         struct arena *arena, struct bytes *ret_escaped)
{
    char kind = family == RECORD_LISTED ? KEY_KIND_LISTED : KEY_KIND_INNER;
    enum store_result result = STORE_NOT_FOUND;
    rocksdb_iterator_t *iterator;
    struct bytes rest;
    struct key from;

    key_init(&from);
    if (after) {
        key_set_partition(&from, family, (struct partition){ space, *after });
        key_set_end(&from);
    } else {
        key_set_space(&from, kind, &space);
    }
    iterator = iterate(archive, key_bytes(&from));
    key_set_space(&from, kind, &space);
    if (rocksdb_iter_valid(iterator) && bytes_has_prefix(key_at(iterator), key_bytes(&from))) {
        result = key_split(arena_copy(arena, key_at(iterator)), ret_escaped, &rest) ? STORE_OK
                                                                                    : STORE_CORRUPT;
    } else {
        enum store_result failed = result_of(iterator);

        result = failed ? failed : STORE_NOT_FOUND;
    }
    rocksdb_iter_destroy(iterator);
    key_release(&from);
    return result;
}

enum store_result archive_partition(struct archive *archive, struct guid space, struct bytes after,
                                    struct arena *arena, struct bytes *ret_key)
{
    const struct bytes *from = after.ptr ? &after : NULL;
    struct bytes listed = { NULL, 0 }, inner = { NULL, 0 }, first;
    enum store_result result = first_partition(archive, RECORD_LISTED, space, from, arena, &listed);
    enum store_result other = first_partition(archive, RECORD_INNER, space, from, arena, &inner);

    if (result && result != STORE_NOT_FOUND)
        return result;
    if (other && other != STORE_NOT_FOUND)
        return other;
    if (result && other)
        return STORE_NOT_FOUND;
    first = result || (!other && bytes_compare(inner, listed) < 0) ? inner : listed;
    return archive_unescape(arena, first, ret_key) ? STORE_OK : STORE_CORRUPT;
}

/* ---- records ---- */

struct reading {
    archive_record_found *found;
    void *context;
    enum record_family family;
    size_t prefix; /* length of the prefix of a record's own key */
    struct arena *arena;
    struct arena_mark empty;
    bool has_stopped; /* found() returned false */
};

static enum store_result read_record(void *context, struct bytes key, struct bytes value)
{
    struct reading *reading = context;
    struct record record = { .key = bytes_from(key, reading->prefix) };
    enum store_result result = record_value_decode(value, reading->arena, &record.value,
                                                   &record.pieces, &record.piece_count);

    if (result)
        log_line(LOG_ERROR, "a record to be copied is corrupt");
    else
        reading->has_stopped = !reading->found(reading->context, reading->family, &record);
    if (reading->has_stopped)
        result = STORE_NOT_FOUND;
    arena_rewind(reading->arena, reading->empty);
    return result;
}

void archive_select(struct archive *archive, struct partition partition)
{
    if (archive->view)
        read_view_close(archive->view);
    arena_free(archive->arena);
    archive->arena = arena_new(RECORD_ARENA_MAX);
    archive->selected =
        (struct partition){ partition.space, arena_copy(archive->arena, partition.key) };
    if (archive->store)
        archive->view = read_view_open(archive->store, archive->selected, STORE_MAY_BLOCK);
}

/* Reads one family of a running store. */
static enum store_result scan_family(struct archive *archive, struct reading *reading)
{
    const struct bytes all = BYTES("");
    struct scan *scan = scan_open(archive->view, reading->family, all, all);
    enum store_result result = STORE_OK;
    struct record record;

    while (!reading->has_stopped && !(result = scan_next(scan, reading->arena, &record))) {
        reading->has_stopped = !reading->found(reading->context, reading->family, &record);
        arena_rewind(reading->arena, reading->empty);
    }
    scan_close(scan);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

enum store_result archive_records(struct archive *archive, archive_record_found *found,
                                  void *context)
{
    static const enum record_family families[] = { RECORD_LISTED, RECORD_INNER };
    struct arena *arena = arena_new(RECORD_ARENA_MAX);
    struct reading reading = {
        .found = found, .context = context, .arena = arena, .empty = arena_mark(arena)
    };
    enum store_result result = STORE_OK;
    struct key prefix;

    key_init(&prefix);
    for (size_t i = 0; !result && !reading.has_stopped && i < sizeof families / sizeof families[0];
         i++) {
        reading.family = families[i];
        if (archive->store) {
            result = scan_family(archive, &reading);
            continue;
        }
        key_set_partition(&prefix, families[i], archive->selected);
        reading.prefix = key_bytes(&prefix).len;
        result = archive_each(archive, key_bytes(&prefix), read_record, &reading);
    }
    key_release(&prefix);
    arena_free(arena);
    return result;
}

enum store_result archive_record(struct archive *archive, enum record_family family,
                                 struct bytes key, archive_record_found *found, void *context)
{
    struct arena *arena = arena_new(RECORD_ARENA_MAX);
    struct record record;
    enum store_result result = read_view_get(archive->view, family, key, arena, &record);

    record.key = key;
    if (!result)
        (void)found(context, family, &record);
    arena_free(arena);
    return result;
}

/* ---- pieces ---- */

/* Reads a piece as it is stored. */
static enum store_result read_stored(struct archive *archive, const struct piece *piece, char *to)
{
    if (archive->store)
        return piece_read(archive->store, piece, 0, piece->length, to, NULL);
    if (archive->fd < 0 || archive->open_extent != piece->extent) {
        enum store_result result;

        if (archive->fd >= 0)
            close(archive->fd);
        archive->fd = -1;
        result = extent_file_open(archive->extents, piece->extent, EXTENT_READS, &archive->fd);
        if (result)
            return result;
        archive->open_extent = piece->extent;
    }
    if (file_read_at(archive->fd, to, piece->length, piece->offset) != (ssize_t)piece->length) {
        log_line(LOG_ERROR, "extent %08x of the backup is too short", (unsigned)piece->extent);
        return STORE_CORRUPT;
    }
    for (uint32_t i = 0; i < piece_sectors(piece); i++) {
        uint32_t at = i * PIECE_SECTOR_BYTES, left = piece->length - at;

        if (crc32c(0, to + at, left < PIECE_SECTOR_BYTES ? left : PIECE_SECTOR_BYTES) !=
            piece->sector_crc[i]) {
            log_line(LOG_ERROR, "a piece in extent %08x of the backup has a wrong checksum",
                     (unsigned)piece->extent);
            return STORE_CORRUPT;
        }
    }
    return STORE_OK;
}

enum store_result archive_piece(struct archive *archive, const struct piece *piece, char *to)
{
    enum store_result result = read_stored(archive, piece, to);
    const uint8_t *key = NULL;
    struct data_cipher *cipher;

    if (result || !piece->seal || piece->seal->store_key == 0)
        return result;
    if (archive->keyring)
        key = keyring_key(archive->keyring, piece->seal->store_key, KEY_FOR_PIECES);
    if (!key) {
        log_line(LOG_ERROR, "a piece in extent %08x is encrypted with an unknown key",
                 (unsigned)piece->extent);
        return STORE_CORRUPT;
    }
    cipher = data_cipher_new(key, piece->seal->salt);
    result = piece_decrypt(piece, cipher, 0, piece->length, to);
    data_cipher_free(cipher);
    return result;
}
