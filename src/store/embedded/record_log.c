/* Assembles records from the fragments in blocks. */
#include "store/embedded/record_log.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/crc.h"
#include "base/endian.h"
#include "base/file.h"
#include "base/log.h"

#define HEADER_SIZE 7u
#define CRC_MASK    0xA282EAD8u

enum fragment_type { FRAGMENT_WHOLE = 1, FRAGMENT_FIRST, FRAGMENT_MIDDLE, FRAGMENT_LAST };

void record_log_init(struct record_log *log, int fd, uint64_t limit)
{
    *log = (struct record_log){ .fd = fd, .limit = limit };
    log->block = xmalloc(RECORD_LOG_BLOCK);
}

void record_log_release(struct record_log *log)
{
    free(log->block);
    free(log->record);
}

/* Reads the block after the one in memory. Returns false if it cannot be read. */
static bool read_block(struct record_log *log)
{
    uint64_t from = log->block_at + log->block_size;
    size_t want = RECORD_LOG_BLOCK;
    ssize_t size;

    if (from >= log->limit)
        want = 0;
    else if (log->limit - from < want)
        want = (size_t)(log->limit - from);
    size = file_read_at(log->fd, log->block, want, from);
    if (size < 0) {
        log_errno("store: read a log of records");
        return false;
    }
    log->block_at = from;
    log->block_size = (size_t)size;
    log->at = 0;
    return true;
}

/* Reads the fragment at log->at, whose header is in the block. Returns false if it is
 * incomplete. */
static bool read_fragment(struct record_log *log, enum fragment_type *ret_type,
                          struct bytes *ret_bytes)
{
    const unsigned char *header = log->block + log->at;
    size_t length = (size_t)header[4] | (size_t)header[5] << 8;
    uint32_t rotated = le32_get(header) - CRC_MASK;

    if (header[6] < FRAGMENT_WHOLE || header[6] > FRAGMENT_LAST ||
        length > log->block_size - log->at - HEADER_SIZE)
        return false;
    if (crc32c(0, header + 6, length + 1) != (rotated >> 17 | rotated << 15))
        return false;
    *ret_type = (enum fragment_type)header[6];
    *ret_bytes = bytes_of(header + HEADER_SIZE, length);
    log->at += HEADER_SIZE + length;
    return true;
}

static void append(struct record_log *log, size_t length, struct bytes fragment)
{
    if (length + fragment.len > log->record_capacity) {
        log->record_capacity = 2 * (length + fragment.len);
        log->record = xrealloc(log->record, log->record_capacity);
    }
    if (fragment.len > 0)
        memcpy(log->record + length, fragment.ptr, fragment.len);
}

/* Moves to the next block if the rest of this one is too small for a header. RECORD_LOG_RECORD:
 * there is a header at log->at. */
static enum record_log_result find_header(struct record_log *log)
{
    if (log->block_size - log->at >= HEADER_SIZE)
        return RECORD_LOG_RECORD;
    if (log->block_size > 0 && log->block_size < RECORD_LOG_BLOCK)
        return log->at == log->block_size ? RECORD_LOG_END : RECORD_LOG_TORN;
    if (!read_block(log))
        return RECORD_LOG_IO;
    if (log->block_size == 0)
        return RECORD_LOG_END;
    return log->block_size >= HEADER_SIZE ? RECORD_LOG_RECORD : RECORD_LOG_TORN;
}

enum record_log_result record_log_next(struct record_log *log, struct bytes *ret_record)
{
    bool inside = false;
    size_t length = 0;

    for (;;) {
        enum record_log_result result = find_header(log);
        enum fragment_type type;
        struct bytes fragment;

        if (result == RECORD_LOG_END && inside)
            return RECORD_LOG_TORN;
        if (result)
            return result;
        if (!read_fragment(log, &type, &fragment))
            return RECORD_LOG_TORN;
        if (log->skips && !inside && (type == FRAGMENT_MIDDLE || type == FRAGMENT_LAST))
            continue;
        log->skips = false;
        if (inside != (type == FRAGMENT_MIDDLE || type == FRAGMENT_LAST))
            return RECORD_LOG_TORN;
        append(log, length, fragment);
        length += fragment.len;
        inside = type == FRAGMENT_FIRST || type == FRAGMENT_MIDDLE;
        if (!inside)
            break;
    }
    log->whole_end = log->block_at + log->at;
    *ret_record = bytes_of(log->record, length);
    return RECORD_LOG_RECORD;
}

bool record_log_skip(struct record_log *log)
{
    log->skips = true;
    return log->block_size == RECORD_LOG_BLOCK && read_block(log) && log->block_size >= HEADER_SIZE;
}
