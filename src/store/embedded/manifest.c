/* Applies the edits of a MANIFEST in order. */
#include "store/embedded/manifest.h"

#include <stdlib.h>

#include "base/codec.h"
#include "base/arena.h"
#include "base/endian.h"
#include "store/embedded/record_log.h"

/* The tags of RocksDB 7.8. */
enum {
    TAG_COMPARATOR = 1,
    TAG_LOG_NUMBER = 2,
    TAG_NEXT_FILE = 3,
    TAG_LAST_SEQUENCE = 4,
    TAG_COMPACT_CURSOR = 5,
    TAG_DELETED_FILE = 6,
    TAG_PREVIOUS_LOG = 9,
    TAG_MIN_LOG = 10,
    TAG_NEW_FILE_4 = 103,
    TAG_COLUMN_FAMILY = 200,
    TAG_COLUMN_FAMILY_ADD = 201,
    TAG_MAX_COLUMN_FAMILY = 203,
    /* From here on: a length and that many bytes; unknown ones may be skipped. */
    TAG_SKIPPABLE = 1 << 13,
    TAG_LOG_ADDED = TAG_SKIPPABLE + 7,
    TAG_LOGS_DELETED = TAG_SKIPPABLE + 8,
};

/* Tags of the fields of a new file. */
enum {
    FIELD_END = 1,
    FIELD_MIN_LOG = 3,
    FIELD_CRC = 7,
    FIELD_NOT_SKIPPABLE = 1 << 6,
};

enum { LOG_FIELD_END = 1, LOG_FIELD_SIZE = 2 };

static bool read_string(struct bytes *from, struct bytes *ret_string)
{
    uint64_t length;

    if (!varint_take(from, &length) || length > from->len)
        return false;
    *ret_string = bytes_of(from->ptr, (size_t)length);
    *from = bytes_from(*from, (size_t)length);
    return true;
}

static void raise(uint64_t *value, uint64_t to)
{
    if (to > *value)
        *value = to;
}

/* A table that an edit adds or removes. */
struct table_edit {
    struct manifest_table table; /* if removed: only number and level */
    size_t order;
    bool removes;
};

struct reading {
    struct manifest *manifest;
    struct table_edit *edits;
    size_t count, capacity;
};

static void add_edit(struct reading *reading, bool removes, struct manifest_table table)
{
    if (reading->count == reading->capacity) {
        reading->capacity = reading->capacity > 0 ? 2 * reading->capacity : 64;
        reading->edits = xrealloc(reading->edits, reading->capacity * sizeof reading->edits[0]);
    }
    reading->edits[reading->count] =
        (struct table_edit){ .table = table, .order = reading->count, .removes = removes };
    reading->count++;
}

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* By number, then by level, then in the order in which they were read. */
static int compare_edits(const void *left, const void *right)
{
    const struct table_edit *a = left, *b = right;
    int result = compare_u64(a->table.number, b->table.number);

    if (result == 0)
        result = compare_u64(a->table.level, b->table.level);
    return result != 0 ? result : compare_u64(a->order, b->order);
}

static bool is_same_table(const struct table_edit *a, const struct table_edit *b)
{
    return a->table.number == b->table.number && a->table.level == b->table.level;
}

/* Lists the tables that remain after all edits, by number. It sorts them, since looking up each
 * removed one among thousands would take quadratic time. Returns false if one is added twice, or
 * removed but does not exist. */
static bool settle_tables(struct reading *reading)
{
    struct manifest *manifest = reading->manifest;
    struct table_edit *edits = reading->edits;

    if (reading->count == 0)
        return true;
    qsort(edits, reading->count, sizeof edits[0], compare_edits);
    manifest->tables = xcalloc(reading->count, sizeof manifest->tables[0]);
    for (size_t i = 0; i < reading->count; i++) {
        bool is_first = i == 0 || !is_same_table(&edits[i - 1], &edits[i]);

        if (edits[i].removes == (is_first || edits[i - 1].removes))
            return false;
        if (edits[i].removes)
            manifest->table_count--;
        else
            manifest->tables[manifest->table_count++] = edits[i].table;
    }
    return true;
}

static bool read_new_file(struct reading *reading, struct bytes *from)
{
    struct manifest_table table = { 0 };
    struct bytes key, field;
    uint64_t smallest, largest, tag;
    bool has_crc = false;

    if (!varint_take(from, &table.level) || !varint_take(from, &table.number) ||
        !varint_take(from, &table.size) || !read_string(from, &key) || !read_string(from, &key) ||
        !varint_take(from, &smallest) || !varint_take(from, &largest))
        return false;
    for (;;) {
        if (!varint_take(from, &tag))
            return false;
        if (tag == FIELD_END)
            break;
        if (!read_string(from, &field))
            return false;
        if (tag == FIELD_MIN_LOG && field.len == 8) {
            raise(&reading->manifest->first_log, le64_get(field.ptr));
        } else if (tag == FIELD_CRC && field.len == 4) {
            table.crc = be32_get(field.ptr);
            has_crc = true;
        } else if (tag & FIELD_NOT_SKIPPABLE) {
            return false;
        }
    }
    if (!has_crc)
        return false;
    raise(&reading->manifest->last_sequence, largest);
    add_edit(reading, false, table);
    return true;
}

static struct manifest_log *find_log(struct manifest *manifest, uint64_t number)
{
    for (size_t i = 0; i < manifest->log_count; i++)
        if (manifest->logs[i].number == number)
            return &manifest->logs[i];
    if (manifest->log_count == manifest->log_capacity) {
        manifest->log_capacity = manifest->log_capacity > 0 ? 2 * manifest->log_capacity : 8;
        manifest->logs =
            xrealloc(manifest->logs, manifest->log_capacity * sizeof manifest->logs[0]);
    }
    manifest->logs[manifest->log_count] = (struct manifest_log){ .number = number };
    return &manifest->logs[manifest->log_count++];
}

/* Reads the creation of a log, or its closing, which contains its size. */
static bool read_log(struct manifest *manifest, struct bytes from)
{
    uint64_t number, tag, size;

    if (!varint_take(&from, &number))
        return false;
    while (varint_take(&from, &tag)) {
        if (tag == LOG_FIELD_END)
            return true;
        if (tag != LOG_FIELD_SIZE || !varint_take(&from, &size))
            return false;
        find_log(manifest, number)->size = size;
    }
    return false;
}

static bool delete_logs(struct manifest *manifest, struct bytes from)
{
    uint64_t below;
    size_t kept = 0;

    if (!varint_take(&from, &below))
        return false;
    for (size_t i = 0; i < manifest->log_count; i++)
        if (manifest->logs[i].number >= below)
            manifest->logs[kept++] = manifest->logs[i];
    manifest->log_count = kept;
    return true;
}

/* Reads the value of a tag that has a single number or string. */
static bool read_simple(struct manifest *manifest, uint64_t tag, struct bytes *from)
{
    struct bytes string;
    uint64_t value;

    switch (tag) {
    case TAG_COMPARATOR:
    case TAG_COLUMN_FAMILY_ADD:
        return read_string(from, &string);
    case TAG_LOG_NUMBER:
    case TAG_MIN_LOG:
        if (!varint_take(from, &value))
            return false;
        raise(&manifest->first_log, value);
        return true;
    case TAG_LAST_SEQUENCE:
        if (!varint_take(from, &value))
            return false;
        raise(&manifest->last_sequence, value);
        return true;
    case TAG_NEXT_FILE:
        manifest->has_next_file = true;
        return varint_take(from, &value);
    case TAG_PREVIOUS_LOG:
    case TAG_MAX_COLUMN_FAMILY:
        return varint_take(from, &value);
    case TAG_COLUMN_FAMILY: /* 0, the only one, is not written */
    default:
        return false;
    }
}

static bool read_deleted_file(struct reading *reading, struct bytes *from)
{
    struct manifest_table table = { 0 };

    if (!varint_take(from, &table.level) || !varint_take(from, &table.number))
        return false;
    add_edit(reading, true, table);
    return true;
}

static bool read_field(struct reading *reading, uint64_t tag, struct bytes *from)
{
    struct manifest *manifest = reading->manifest;
    struct bytes string;
    uint64_t level;

    if (tag == TAG_NEW_FILE_4)
        return read_new_file(reading, from);
    if (tag == TAG_DELETED_FILE)
        return read_deleted_file(reading, from);
    if (tag == TAG_COMPACT_CURSOR)
        return varint_take(from, &level) && read_string(from, &string);
    if (!(tag & TAG_SKIPPABLE))
        return read_simple(manifest, tag, from);
    if (!read_string(from, &string))
        return false;
    if (tag == TAG_LOG_ADDED)
        return read_log(manifest, string);
    if (tag == TAG_LOGS_DELETED)
        return delete_logs(manifest, string);
    return true;
}

static bool apply(struct reading *reading, struct bytes edit)
{
    while (edit.len > 0) {
        uint64_t tag;

        if (!varint_take(&edit, &tag) || !read_field(reading, tag, &edit))
            return false;
    }
    return true;
}

enum store_result manifest_read(int fd, uint64_t limit, struct manifest *ret_manifest)
{
    struct reading reading = { .manifest = ret_manifest };
    struct record_log log;
    struct bytes edit;
    enum record_log_result got;
    bool understood = true;

    *ret_manifest = (struct manifest){ 0 };
    record_log_init(&log, fd, limit);
    while ((got = record_log_next(&log, &edit)) == RECORD_LOG_RECORD && understood)
        understood = apply(&reading, edit);
    ret_manifest->size = log.whole_end;
    ret_manifest->torn = got != RECORD_LOG_END;
    record_log_release(&log);
    understood = understood && settle_tables(&reading);
    free(reading.edits);
    if (got == RECORD_LOG_IO)
        return STORE_IO;
    return understood && ret_manifest->has_next_file ? STORE_OK : STORE_CORRUPT;
}

void manifest_release(struct manifest *manifest)
{
    free(manifest->tables);
    free(manifest->logs);
}

bool *manifest_find_named(const struct manifest *manifest, const struct records_files *files)
{
    bool *named = xcalloc(files->count + 1, sizeof named[0]); /* + 1: never empty */

    for (size_t i = 0; i < manifest->table_count; i++) {
        const struct records_file *file =
            records_files_find(files, RECORDS_TABLE, manifest->tables[i].number);

        if (file)
            named[file - files->list] = true;
    }
    return named;
}
