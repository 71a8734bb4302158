/* Footer, index, blocks, entries. */
#include "store/embedded/table_file.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/codec.h"
#include "base/crc.h"
#include "base/endian.h"
#include "base/file.h"
#include "base/log.h"

#define FOOTER_SIZE   53u
#define TRAILER_SIZE  5u
#define MAGIC         0x88E241B785F4CFF7u
#define CRC_MASK      0xA282EAD8u
#define KIND_CRC32C   1
#define KEY_TAIL      8u
#define BLOCK_MAX     (256u << 20) /* a value may be as large as a record */
#define RESTARTS_MASK 0x7FFFFFFFu  /* the top bit marks a hash index, which is not configured */

struct reading {
    int fd;
    uint64_t size;
    table_visit *visit;
    table_lost *lost;
    void *context;
};

struct handle {
    uint64_t offset;
    uint64_t size;
};

static bool read_run(struct bytes *from, uint64_t length, struct bytes *ret_run)
{
    if (length > from->len)
        return false;
    *ret_run = bytes_of(from->ptr, (size_t)length);
    *from = bytes_from(*from, (size_t)length);
    return true;
}

static bool read_handle(struct bytes *from, struct handle *ret_handle)
{
    return varint_take(from, &ret_handle->offset) && varint_take(from, &ret_handle->size);
}

/* Reads and verifies a block, on the heap; returns NULL if it is damaged or unreadable. */
static char *read_block(const struct reading *reading, struct handle handle)
{
    uint64_t room = handle.size + TRAILER_SIZE;
    uint32_t rotated;
    char *block;

    if (handle.size > BLOCK_MAX || handle.offset > reading->size ||
        room > reading->size - handle.offset)
        return NULL;
    block = xmalloc((size_t)room);
    if (file_read_at(reading->fd, block, (size_t)room, handle.offset) == (ssize_t)room &&
        block[handle.size] == 0) {
        rotated = le32_get(block + handle.size + 1) - CRC_MASK;
        if (crc32c(0, block, (size_t)handle.size + 1) == (rotated >> 17 | rotated << 15))
            return block;
    }
    free(block);
    return NULL;
}

/* Returns the entries of a block, without its trailer. */
static bool entries_of(const char *block, uint64_t size, struct bytes *ret_entries)
{
    uint64_t tail;

    if (size < 4)
        return false;
    tail = 4 * ((uint64_t)(le32_get(block + size - 4) & RESTARTS_MASK) + 1);
    if (tail > size)
        return false;
    *ret_entries = bytes_of(block, (size_t)(size - tail));
    return true;
}

static bool read_footer(const struct reading *reading, struct handle *ret_index)
{
    char footer[FOOTER_SIZE];
    struct bytes handles = bytes_of(footer + 1, 40);
    struct handle other;

    return reading->size > FOOTER_SIZE &&
           file_read_at(reading->fd, footer, sizeof footer, reading->size - FOOTER_SIZE) ==
               (ssize_t)sizeof footer &&
           le64_get(footer + FOOTER_SIZE - 8) == MAGIC && footer[0] == KIND_CRC32C &&
           read_handle(&handles, &other) && read_handle(&handles, ret_index);
}

/* ---- data blocks ---- */

/* The key of an entry, assembled in a buffer that grows. */
struct key_buffer {
    char *ptr;
    size_t len;
    size_t capacity;
};

static bool build_key(struct key_buffer *key, uint64_t shared, struct bytes rest)
{
    if (shared > key->len)
        return false;
    if (shared + rest.len > key->capacity) {
        key->capacity = 2 * (size_t)(shared + rest.len);
        key->ptr = xrealloc(key->ptr, key->capacity);
    }
    if (rest.len > 0)
        memcpy(key->ptr + shared, rest.ptr, rest.len);
    key->len = (size_t)shared + rest.len;
    return key->len >= KEY_TAIL;
}

static bool read_entry(struct bytes *from, struct key_buffer *key, struct table_entry *ret_entry)
{
    struct bytes rest;
    uint64_t shared, unshared, length, tail;

    if (!varint_take(from, &shared) || !varint_take(from, &unshared) ||
        !varint_take(from, &length) || !read_run(from, unshared, &rest) ||
        !build_key(key, shared, rest) || !read_run(from, length, &ret_entry->value))
        return false;
    tail = le64_get(key->ptr + key->len - KEY_TAIL);
    ret_entry->key = bytes_of(key->ptr, key->len - KEY_TAIL);
    ret_entry->sequence = tail >> 8;
    ret_entry->kind = (enum change_kind)(tail & 0xFF);
    return (tail & 0xFF) <= CHANGE_MERGE;
}

/* Returns false if the visitor stopped. *ret_whole: every entry was valid */
static bool visit_block(const struct reading *reading, struct bytes entries, bool *ret_whole)
{
    struct key_buffer key = { 0 };
    struct table_entry entry;
    bool goes_on = true;

    *ret_whole = true;
    while (entries.len > 0 && goes_on) {
        *ret_whole = read_entry(&entries, &key, &entry);
        if (!*ret_whole)
            break;
        goes_on = reading->visit(reading->context, &entry);
    }
    free(key.ptr);
    return goes_on;
}

static bool read_data(const struct reading *reading, struct handle handle, struct bytes after,
                      struct bytes to)
{
    char *block = read_block(reading, handle);
    struct bytes entries;
    bool whole = false;
    bool goes_on = true;

    if (block && entries_of(block, handle.size, &entries))
        goes_on = visit_block(reading, entries, &whole);
    if (!whole)
        reading->lost(reading->context, after, to);
    free(block);
    return goes_on;
}

/* ---- the index ---- */

struct index_entry {
    struct bytes key;
    struct handle at;
};

static bool read_index_entry(struct bytes *from, struct index_entry *ret_entry)
{
    uint64_t shared, length;

    return varint_take(from, &shared) && shared == 0 && varint_take(from, &length) &&
           read_run(from, length, &ret_entry->key) && read_handle(from, &ret_entry->at);
}

/* Reads the data blocks that a block of the index names, with records after `after` and up to `to`.
 * Returns false if the visitor stopped. */
static bool read_named(const struct reading *reading, struct bytes entries, struct bytes after,
                       struct bytes to)
{
    struct index_entry entry;

    while (entries.len > 0) {
        if (!read_index_entry(&entries, &entry)) {
            reading->lost(reading->context, after, to);
            return true;
        }
        if (!read_data(reading, entry.at, after, entry.key))
            return false;
        after = entry.key;
    }
    return true;
}

/* The same for a block of the index, named by the top level. */
static bool read_partition(const struct reading *reading, struct handle handle, struct bytes after,
                           struct bytes to)
{
    char *block = read_block(reading, handle);
    struct bytes entries;
    bool goes_on = true;

    if (block && entries_of(block, handle.size, &entries))
        goes_on = read_named(reading, entries, after, to);
    else
        reading->lost(reading->context, after, to);
    free(block);
    return goes_on;
}

static bool read_index(const struct reading *reading, struct bytes entries)
{
    static const struct bytes end = { NULL, 0 };
    struct bytes after = { "", 0 };
    struct index_entry entry;

    while (entries.len > 0) {
        if (!read_index_entry(&entries, &entry)) {
            reading->lost(reading->context, after, end);
            return true;
        }
        if (!read_partition(reading, entry.at, after, entry.key))
            return false;
        after = entry.key;
    }
    return true;
}

enum store_result table_file_read(int fd, table_visit *visit, table_lost *lost, void *context)
{
    struct reading reading = { .fd = fd, .visit = visit, .lost = lost, .context = context };
    struct bytes entries;
    struct handle index;
    struct stat status;
    bool goes_on;
    char *block;

    if (fstat(fd, &status) < 0) {
        log_errno("store: read a table");
        return STORE_IO;
    }
    reading.size = (uint64_t)status.st_size;
    if (!read_footer(&reading, &index))
        return STORE_CORRUPT;
    block = read_block(&reading, index);
    if (!block || !entries_of(block, index.size, &entries)) {
        free(block);
        return STORE_CORRUPT;
    }
    goes_on = read_index(&reading, entries);
    free(block);
    return goes_on ? STORE_OK : STORE_IO;
}
