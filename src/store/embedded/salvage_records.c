/* Reads the tables that the best MANIFEST names, newer ones that it does not, and the logs. */
#include "store/embedded/salvage_records.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/crc.h"
#include "base/endian.h"
#include "base/file.h"
#include "base/log.h"
#include "store/embedded/extent_file.h"
#include "store/embedded/manifest.h"
#include "store/embedded/manifest_guard.h"
#include "store/embedded/record_log.h"
#include "store/embedded/records_files.h"
#include "store/embedded/table_file.h"
#include "store/record_key.h"

#define BATCH_HEADER 12u /* 8 le sequence, 4 le count */

struct salvage {
    int folder;
    int records;
    struct keyspace *scratch;
    const struct salvage_listener *listener;
    struct records_files files;
    struct manifest manifest; /* the best one found; without tables if none was */
    bool has_manifest;
    bool failed; /* the new folder cannot be written */
};

static void say(const struct salvage *salvage, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void say(const struct salvage *salvage, const char *format, ...)
{
    char sentence[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    salvage->listener->say(salvage->listener->context, sentence);
}

/* ---- the scratch key space ---- */

enum store_result salvage_write(struct keyspace *keyspace, rocksdb_writebatch_t *batch)
{
    enum store_result result;

    while ((result = keyspace_write(keyspace, batch)) == STORE_WAIT)
        keyspace_pause();
    return result;
}

static enum store_result put_scratch(const struct salvage *salvage, struct bytes key,
                                     const struct table_entry *entry)
{
    rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
    char header[SCRATCH_HEADER];
    const char *const values[] = { header, entry->value.ptr };
    const size_t sizes[] = { sizeof header, entry->value.len };
    enum store_result result;

    le64_put(header, entry->sequence);
    header[8] = (char)entry->kind;
    rocksdb_writebatch_putv(batch, 1, &key.ptr, &key.len, 2, values, sizes);
    result = salvage_write(salvage->scratch, batch);
    rocksdb_writebatch_destroy(batch);
    return result;
}

static enum store_result keep_merge(const struct salvage *salvage, const struct table_entry *entry)
{
    size_t length = 1 + entry->key.len + 8;
    char *key = xmalloc(length);
    enum store_result result;

    key[0] = SCRATCH_MERGE;
    memcpy(key + 1, entry->key.ptr, entry->key.len);
    be64_put(key + 1 + entry->key.len, entry->sequence);
    result = put_scratch(salvage, bytes_of(key, length), entry);
    free(key);
    return result;
}

/* Returns true if there is no newer change of that key. */
static bool is_newest(const struct salvage *salvage, const struct table_entry *entry)
{
    rocksdb_pinnableslice_t *found;
    bool newest;
    size_t length;

    if (keyspace_get(salvage->scratch, salvage->scratch->newest, STORE_MAY_BLOCK, entry->key,
                     &found))
        return true;
    newest = le64_get(rocksdb_pinnableslice_value(found, &length)) <= entry->sequence;
    rocksdb_pinnableslice_destroy(found);
    return newest;
}

/* Stores the change unless there is a newer one of that key. */
static bool keep(void *context, const struct table_entry *entry)
{
    struct salvage *salvage = context;
    enum store_result result = STORE_OK;

    if (entry->key.len == 0)
        return true;
    if (entry->kind == CHANGE_MERGE)
        result = keep_merge(salvage, entry);
    else if (is_newest(salvage, entry))
        result = put_scratch(salvage, entry->key, entry);
    salvage->failed = result != STORE_OK;
    return !result;
}

/* ---- selection of the MANIFEST ---- */

/* Uses the MANIFEST in a file if it is newer than the one so far. */
static void consider(struct salvage *salvage, int folder, const char *name)
{
    struct manifest manifest;
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    if (manifest_read(fd, UINT64_MAX, &manifest) == STORE_OK &&
        (!salvage->has_manifest || manifest.last_sequence > salvage->manifest.last_sequence ||
         (manifest.last_sequence == salvage->manifest.last_sequence &&
          manifest.first_log > salvage->manifest.first_log))) {
        manifest_release(&salvage->manifest);
        salvage->manifest = manifest;
        salvage->has_manifest = true;
    } else {
        manifest_release(&manifest);
    }
    close(fd);
}

static void find_manifest(struct salvage *salvage, int synced)
{
    struct manifest_checkpoint checkpoint;
    char name[MANIFEST_COPY_NAME_SIZE];

    for (size_t i = 0; i < salvage->files.count; i++)
        if (salvage->files.list[i].kind == RECORDS_MANIFEST) {
            records_file_name(name, RECORDS_MANIFEST, salvage->files.list[i].number);
            consider(salvage, salvage->records, name);
        }
    if (synced >= 0 && !manifest_checkpoint_read(synced, &checkpoint) && checkpoint.number > 0) {
        manifest_copy_name(name, checkpoint.number);
        consider(salvage, salvage->folder, name);
    }
    if (!salvage->has_manifest)
        say(salvage, "no MANIFEST can be read: all tables are used, and deleted or overwritten "
                     "data may reappear");
}

/* ---- tables ---- */

/* Splits a key of the index, which may be truncated anywhere. Returns NULL if it is not of a
 * record. */
static struct record_place *place_of(struct bytes key, char *partition,
                                     struct record_place *ret_place)
{
    size_t length = 0;

    *ret_place = (struct record_place){ 0 };
    if (key.len < KEY_SPACE_SIZE || (key.ptr[0] != KEY_KIND_LISTED && key.ptr[0] != KEY_KIND_INNER))
        return NULL;
    for (size_t i = KEY_SPACE_SIZE; i < key.len && key.ptr[i] != 0; i++)
        partition[length++] = key.ptr[i];
    ret_place->family = key.ptr[0] == KEY_KIND_LISTED ? RECORD_LISTED : RECORD_INNER;
    memcpy(ret_place->space.b, key.ptr + 1, sizeof ret_place->space.b);
    ret_place->partition_key = bytes_of(partition, length);
    return ret_place;
}

static void lost_block(void *context, struct bytes after, struct bytes to)
{
    const struct salvage *salvage = context;
    struct record_place places[2];
    char *partitions = xmalloc(after.len + to.len + 2);

    /* Rows of the index of pieces are rebuilt. */
    if (after.len == 0 || after.ptr[0] != KEY_KIND_PIECE)
        salvage->listener->lost(salvage->listener->context, place_of(after, partitions, &places[0]),
                                place_of(to, partitions + after.len + 1, &places[1]));
    free(partitions);
}

static uint64_t newest_table(const struct manifest *manifest)
{
    uint64_t newest = 0;

    for (size_t i = 0; i < manifest->table_count; i++)
        if (manifest->tables[i].number > newest)
            newest = manifest->tables[i].number;
    return newest;
}

static enum store_result read_table(struct salvage *salvage, uint64_t number, bool is_named)
{
    char name[RECORDS_NAME_SIZE];
    enum store_result result;
    int fd;

    records_file_name(name, RECORDS_TABLE, number);
    fd = openat(salvage->records, name, O_RDONLY | O_CLOEXEC);
    result = fd < 0 ? STORE_CORRUPT : table_file_read(fd, keep, lost_block, salvage);
    if (fd >= 0)
        close(fd);
    if (result && (is_named || !salvage->has_manifest))
        say(salvage, "records/%s cannot be read: the records in it are lost", name);
    return salvage->failed ? STORE_IO : STORE_OK;
}

/* Older tables that are not named are obsolete, because they may contain data deleted since
 * then. */
static enum store_result read_tables(struct salvage *salvage)
{
    bool *named = manifest_find_named(&salvage->manifest, &salvage->files);
    uint64_t newest = newest_table(&salvage->manifest);
    enum store_result result = STORE_OK;

    for (size_t i = 0; i < salvage->files.count && !result; i++) {
        const struct records_file *file = &salvage->files.list[i];
        bool given_up = !named[i] && salvage->has_manifest && file->number < newest;

        if (file->kind == RECORDS_TABLE && !given_up)
            result = read_table(salvage, file->number, named[i]);
    }
    free(named);
    for (size_t i = 0; i < salvage->manifest.table_count; i++) {
        uint64_t number = salvage->manifest.tables[i].number;

        if (!records_files_find(&salvage->files, RECORDS_TABLE, number))
            say(salvage, "records/%06" PRIu64 ".sst is missing: the records in it are lost",
                number);
    }
    return result;
}

/* ---- logs ---- */

static bool read_string(struct bytes *from, struct bytes *ret_string)
{
    uint64_t length = 0;
    unsigned shift = 0;
    unsigned char c;

    do {
        if (from->len == 0 || shift > 28)
            return false;
        c = (unsigned char)*from->ptr;
        *from = bytes_from(*from, 1);
        length |= (uint64_t)(c & 0x7F) << shift;
        shift += 7;
    } while (c >= 0x80);
    if (length > from->len)
        return false;
    *ret_string = bytes_of(from->ptr, (size_t)length);
    *from = bytes_from(*from, (size_t)length);
    return true;
}

/* Reads the changes of one commit. Returns false if they are invalid, or cannot be stored. */
static bool read_batch(struct salvage *salvage, struct bytes batch)
{
    uint64_t sequence = le64_get(batch.ptr);

    for (batch = bytes_from(batch, BATCH_HEADER); batch.len > 0; sequence++) {
        struct table_entry entry = { .sequence = sequence,
                                     .kind = (enum change_kind)(unsigned char)*batch.ptr };

        if ((unsigned char)*batch.ptr > CHANGE_MERGE)
            return false;
        batch = bytes_from(batch, 1);
        if (!read_string(&batch, &entry.key) ||
            (entry.kind != CHANGE_DELETE && !read_string(&batch, &entry.value)) ||
            !keep(salvage, &entry))
            return false;
    }
    return true;
}

/* *next: sequence of the next commit if none is missing */
static enum store_result read_log(struct salvage *salvage, uint64_t number, uint64_t *next)
{
    char name[RECORDS_NAME_SIZE];
    struct record_log log;
    struct bytes batch;
    enum record_log_result got;
    int fd;

    records_file_name(name, RECORDS_LOG, number);
    fd = openat(salvage->records, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        say(salvage, "records/%s cannot be read: the changes in it are lost", name);
        return STORE_OK;
    }
    record_log_init(&log, fd, UINT64_MAX);
    do {
        while ((got = record_log_next(&log, &batch)) == RECORD_LOG_RECORD) {
            uint64_t first = batch.len >= BATCH_HEADER ? le64_get(batch.ptr) : 0;

            if (first > *next)
                say(salvage,
                    "changes %" PRIu64 " to %" PRIu64 ", before byte %" PRIu64
                    " of records/%s, are lost",
                    *next, first - 1, log.whole_end, name);
            if (batch.len < BATCH_HEADER || !read_batch(salvage, batch))
                break;
            if (first + le32_get(batch.ptr + 8) > *next)
                *next = first + le32_get(batch.ptr + 8);
        }
    } while (!salvage->failed && got == RECORD_LOG_TORN && record_log_skip(&log));
    record_log_release(&log);
    close(fd);
    return salvage->failed ? STORE_IO : STORE_OK;
}

static enum store_result read_logs(struct salvage *salvage, uint64_t durable)
{
    uint64_t next = salvage->manifest.last_sequence + 1;
    enum store_result result = STORE_OK;

    for (size_t i = 0; i < salvage->files.count && !result; i++) {
        const struct records_file *file = &salvage->files.list[i];

        if (file->kind == RECORDS_LOG && file->number >= salvage->manifest.first_log)
            result = read_log(salvage, file->number, &next);
    }
    if (salvage->has_manifest && next <= durable)
        say(salvage, "changes %" PRIu64 " to %" PRIu64 ", the newest, are lost", next, durable);
    return result;
}

enum store_result salvage_records(int folder, int synced, uint64_t durable,
                                  struct keyspace *scratch, const struct salvage_listener *listener)
{
    struct salvage salvage = { .folder = folder, .scratch = scratch, .listener = listener };
    enum store_result result;

    salvage.records = openat(folder, "records", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (salvage.records < 0) {
        say(&salvage, "records/ cannot be read: all records are lost");
        return STORE_OK;
    }
    result = records_files_list(salvage.records, &salvage.files);
    if (!result) {
        find_manifest(&salvage, synced);
        result = read_tables(&salvage);
        if (!result)
            result = read_logs(&salvage, durable);
        manifest_release(&salvage.manifest);
        records_files_release(&salvage.files);
    }
    close(salvage.records);
    return result;
}

/* ---- salvage pieces ---- */

static enum store_result find(struct salvage_pieces *pieces, uint32_t id,
                              struct salvage_extent *ret_extent)
{
    struct salvage_extent extent = { .id = id, .from = -1 };
    enum store_result result;

    for (size_t i = 0; i < pieces->count; i++)
        if (pieces->list[i].id == id) {
            *ret_extent = pieces->list[i];
            return STORE_OK;
        }
    if (pieces->from >= 0 && extent_file_open(pieces->from, id, EXTENT_READS, &extent.from))
        extent.from = -1;
    result = extent_file_create(pieces->to, id, &extent.to);
    if (result) {
        if (extent.from >= 0)
            close(extent.from);
        return result;
    }
    if (pieces->count == pieces->capacity) {
        pieces->capacity = pieces->capacity > 0 ? 2 * pieces->capacity : 16;
        pieces->list = xrealloc(pieces->list, pieces->capacity * sizeof pieces->list[0]);
    }
    pieces->list[pieces->count++] = extent;
    *ret_extent = extent;
    return STORE_OK;
}

enum store_result salvage_copy_piece(struct salvage_pieces *pieces, const struct piece *piece)
{
    struct salvage_extent extent;
    enum store_result result = find(pieces, piece->extent, &extent);
    char *sector = xmalloc(PIECE_SECTOR_BYTES);

    for (uint32_t i = 0; i < piece_sectors(piece) && !result && extent.from >= 0; i++) {
        uint32_t at = i * PIECE_SECTOR_BYTES;
        uint32_t left = piece->length - at;
        struct bytes run = { sector, left < PIECE_SECTOR_BYTES ? left : PIECE_SECTOR_BYTES };

        if (file_read_at(extent.from, sector, run.len, piece->offset + at) == (ssize_t)run.len &&
            crc32c(0, sector, run.len) == piece->sector_crc[i])
            result = extent_file_write(extent.to, extent.id, &run, 1, piece->offset + at);
    }
    free(sector);
    return result;
}

enum store_result salvage_finish_pieces(struct salvage_pieces *pieces)
{
    enum store_result result = STORE_OK;

    for (size_t i = 0; i < pieces->count; i++) {
        if (fsync(pieces->list[i].to) < 0) {
            log_errno("store: sync a salvaged extent");
            result = STORE_IO;
        }
        if (pieces->list[i].from >= 0)
            close(pieces->list[i].from);
        close(pieces->list[i].to);
    }
    free(pieces->list);
    if (fsync(pieces->to) < 0)
        result = STORE_IO;
    return result;
}
