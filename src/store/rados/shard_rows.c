#include "store/rados/shard_rows.h"

#include "base/crc.h"
#include "base/endian.h"

#define ROW_VERSION     1
#define CRC_SIZE        4
#define BOUNDS_SIZE_MIN (2 + 8 + 8 + 8 + 4 + 4 + 4 + CRC_SIZE)
#define ATTEMPT_SIZE    12
#define HEADER_ROW_SIZE (2 + 8 + HEADER_ATTEMPTS * ATTEMPT_SIZE + CRC_SIZE)

static void add_be32(struct text *row, uint32_t value)
{
    char be[4];

    be32_put(be, value);
    text_add(row, bytes_of(be, sizeof be));
}

static void add_be64(struct text *row, uint64_t value)
{
    char be[8];

    be64_put(be, value);
    text_add(row, bytes_of(be, sizeof be));
}

static struct bytes with_crc(struct text *row)
{
    add_be32(row, crc32c(0, row->ptr, row->len));
    return text_bytes(row);
}

static bool crc_is_right(struct bytes row)
{
    return row.len >= CRC_SIZE &&
           be32_get(row.ptr + row.len - CRC_SIZE) == crc32c(0, row.ptr, row.len - CRC_SIZE);
}

struct bytes shard_bounds_write(struct arena *arena, const struct shard_bounds *bounds)
{
    struct text row;

    text_init(&row, arena, BOUNDS_SIZE_MIN + bounds->lo.len + bounds->hi.len);
    text_add_char(&row, ROW_VERSION);
    text_add_char(&row, (char)bounds->state);
    add_be64(&row, bounds->epoch);
    add_be64(&row, bounds->stamp);
    add_be64(&row, bounds->next);
    add_be32(&row, bounds->incarnation_floor);
    add_be32(&row, (uint32_t)bounds->lo.len);
    text_add(&row, bounds->lo);
    add_be32(&row, (uint32_t)bounds->hi.len);
    text_add(&row, bounds->hi);
    return with_crc(&row);
}

/* Takes a length and so many bytes off the front. */
static bool take_key(struct bytes *from, struct bytes *ret_key)
{
    uint32_t length;

    if (from->len < 4)
        return false;
    length = be32_get(from->ptr);
    *from = bytes_from(*from, 4);
    if (length > from->len)
        return false;
    *ret_key = bytes_of(from->ptr, length);
    *from = bytes_from(*from, length);
    return true;
}

enum store_result shard_bounds_read(struct bytes row, struct shard_bounds *ret_bounds)
{
    struct shard_bounds bounds;
    struct bytes rest;

    if (row.len < BOUNDS_SIZE_MIN || !crc_is_right(row) || row.ptr[0] != ROW_VERSION)
        return STORE_CORRUPT;
    if (row.ptr[1] != SHARD_LIVE && row.ptr[1] != SHARD_SEALED)
        return STORE_CORRUPT;
    bounds = (struct shard_bounds){
        .state = (enum shard_state)row.ptr[1],
        .epoch = be64_get(row.ptr + 2),
        .stamp = be64_get(row.ptr + 10),
        .next = be64_get(row.ptr + 18),
        .incarnation_floor = be32_get(row.ptr + 26),
    };
    rest = bytes_of(row.ptr + 30, row.len - 30 - CRC_SIZE);
    if (!take_key(&rest, &bounds.lo) || !take_key(&rest, &bounds.hi) || rest.len > 0)
        return STORE_CORRUPT;
    *ret_bounds = bounds;
    return STORE_OK;
}

bool shard_bounds_have(const struct shard_bounds *bounds, struct bytes partition_key)
{
    return bytes_compare(partition_key, bounds->lo) >= 0 &&
           (bounds->hi.len == 0 || bytes_compare(partition_key, bounds->hi) < 0);
}

/* ---- headers ---- */

struct bytes partition_header_write(struct arena *arena, const struct partition_header *header)
{
    struct text row;

    if (header->version == 0)
        return (struct bytes){ NULL, 0 };
    text_init(&row, arena, HEADER_ROW_SIZE);
    text_add_char(&row, ROW_VERSION);
    text_add_char(&row, 0);
    add_be64(&row, header->version);
    for (size_t i = 0; i < HEADER_ATTEMPTS; i++) {
        add_be32(&row, header->attempts[i].incarnation);
        add_be64(&row, header->attempts[i].number);
    }
    return with_crc(&row);
}

enum store_result partition_header_read(struct bytes row, struct partition_header *ret_header)
{
    struct partition_header header = { .version = 0 };

    if (row.len == 0) {
        *ret_header = header;
        return STORE_OK;
    }
    if (row.len != HEADER_ROW_SIZE || !crc_is_right(row) || row.ptr[0] != ROW_VERSION ||
        row.ptr[1] != 0)
        return STORE_CORRUPT;
    header.version = be64_get(row.ptr + 2);
    for (size_t i = 0; i < HEADER_ATTEMPTS; i++) {
        const char *at = row.ptr + 10 + i * ATTEMPT_SIZE;

        header.attempts[i] = (struct attempt){ be32_get(at), be64_get(at + 4) };
    }
    if (header.version == 0)
        return STORE_CORRUPT;
    *ret_header = header;
    return STORE_OK;
}

struct partition_header partition_header_after(const struct partition_header *seen, instant now,
                                               struct attempt attempt)
{
    struct partition_header after = {
        .version = now > seen->version ? now : seen->version + 1,
        .attempts = { attempt },
    };

    memcpy(&after.attempts[1], &seen->attempts[0], sizeof after.attempts - sizeof attempt);
    return after;
}

static bool attempt_equal(struct attempt a, struct attempt b)
{
    return a.incarnation == b.incarnation && a.number == b.number;
}

static bool remembers(const struct partition_header *header, struct attempt attempt)
{
    for (size_t i = 0; i < HEADER_ATTEMPTS; i++)
        if (attempt_equal(header->attempts[i], attempt))
            return true;
    return false;
}

enum store_result partition_header_outcome(const struct partition_header *now,
                                           const struct partition_header *seen,
                                           struct attempt attempt)
{
    if (remembers(now, attempt))
        return STORE_OK;
    if (now->version == seen->version)
        return STORE_WAIT;
    /* Also of a partition that was absent: the last place is free as long as none was pushed out. */
    return remembers(now, seen->attempts[0]) ? STORE_CONFLICT : STORE_UNKNOWN;
}
