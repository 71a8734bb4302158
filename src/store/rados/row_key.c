#include "store/rados/row_key.h"

#include <assert.h>
#include <stdio.h>

#include "base/crc.h"

#define LANES_LOG2_MAX 4
#define FENCE_DIGITS   8

#define ESCAPE         '\x01'
#define ESCAPED_END    '\x01'
#define ESCAPED_00     '\x02'
#define ESCAPED_01     '\x03'

static void add_escaped(struct text *key, struct bytes raw)
{
    for (size_t i = 0; i < raw.len; i++) {
        char c = raw.ptr[i];

        if (c == '\0' || c == ESCAPE) {
            text_add_char(key, ESCAPE);
            text_add_char(key, c == '\0' ? ESCAPED_00 : ESCAPED_01);
        } else {
            text_add_char(key, c);
        }
    }
}

static void begin(struct text *key, struct arena *arena, char kind, struct bytes partition_key)
{
    text_init(key, arena, partition_key.len + 16);
    text_add_char(key, kind);
    add_escaped(key, partition_key);
    text_add_char(key, ESCAPE);
    text_add_char(key, ESCAPED_END);
}

struct bytes row_key_bounds(void)
{
    return bytes_of("A", 1);
}

struct bytes row_key_fence(struct arena *arena, uint32_t incarnation)
{
    return arena_printf(arena, "F%08x", incarnation);
}

struct bytes row_key_header(struct arena *arena, struct bytes partition_key)
{
    struct text key;

    begin(&key, arena, 'P', partition_key);
    text_add_char(&key, 'h');
    return text_bytes(&key);
}

struct bytes row_key_record(struct arena *arena, enum record_family family,
                            struct bytes partition_key, struct bytes record_key)
{
    struct text key;

    begin(&key, arena, family == RECORD_LISTED ? 'L' : 'P', partition_key);
    if (family == RECORD_INNER)
        text_add_char(&key, 'i');
    add_escaped(&key, record_key);
    return text_bytes(&key);
}

/* Takes an escaped key off the front of *from: up to END, or, if that may be missing, all of it. */
static bool take_escaped(struct bytes *from, struct arena *arena, bool has_end,
                         struct bytes *ret_raw)
{
    struct text raw;
    size_t i = 0;

    text_init(&raw, arena, from->len);
    while (i < from->len) {
        char c = from->ptr[i++];

        if (c == '\0')
            return false;
        if (c != ESCAPE) {
            text_add_char(&raw, c);
            continue;
        }
        if (i == from->len)
            return false;
        c = from->ptr[i++];
        if (c == ESCAPED_END && has_end) {
            *from = bytes_from(*from, i);
            *ret_raw = text_bytes(&raw);
            return true;
        }
        if (c != ESCAPED_00 && c != ESCAPED_01)
            return false;
        text_add_char(&raw, c == ESCAPED_00 ? '\0' : ESCAPE);
    }
    *from = bytes_from(*from, i);
    *ret_raw = text_bytes(&raw);
    return !has_end;
}

static bool read_fence(struct bytes digits, struct row_name *ret_name)
{
    uint32_t value = 0;

    if (digits.len != FENCE_DIGITS)
        return false;
    for (size_t i = 0; i < digits.len; i++) {
        int digit = bytes_hex_digit(digits.ptr[i]);

        if (digit < 0)
            return false;
        value = value << 4 | (uint32_t)digit;
    }
    *ret_name = (struct row_name){ .kind = ROW_FENCE, .incarnation = value };
    return true;
}

bool row_key_read(struct bytes key, struct arena *arena, struct row_name *ret_name)
{
    struct row_name name = { .kind = ROW_LISTED };
    struct bytes rest = bytes_from(key, 1);

    if (bytes_equal(key, row_key_bounds())) {
        *ret_name = (struct row_name){ .kind = ROW_BOUNDS };
        return true;
    }
    if (key.len > 0 && key.ptr[0] == 'F')
        return read_fence(rest, ret_name);
    if (key.len == 0 || (key.ptr[0] != 'L' && key.ptr[0] != 'P'))
        return false;
    if (!take_escaped(&rest, arena, true, &name.partition_key))
        return false;
    if (key.ptr[0] == 'P') {
        if (bytes_is(rest, "h")) {
            name.kind = ROW_HEADER;
            *ret_name = name;
            return true;
        }
        if (rest.len == 0 || rest.ptr[0] != 'i')
            return false;
        name.kind = ROW_INNER;
        rest = bytes_from(rest, 1);
    }
    if (!take_escaped(&rest, arena, false, &name.record_key))
        return false;
    *ret_name = name;
    return true;
}

unsigned space_lanes(const struct guid *space)
{
    unsigned log2 = space->b[sizeof space->b - 1] & 7u;

    return 1u << (log2 < LANES_LOG2_MAX ? log2 : LANES_LOG2_MAX);
}

unsigned partition_lane(const struct guid *space, struct bytes partition_key)
{
    return crc32c(0, partition_key.ptr, partition_key.len) & (space_lanes(space) - 1);
}

void shard_name(const struct guid *space, unsigned lane, uint64_t number,
                char ret_name[SHARD_NAME_SIZE])
{
    int at = 2;

    assert(lane < space_lanes(space));
    memcpy(ret_name, "s.", 2);
    for (size_t i = 0; i < sizeof space->b; i++)
        at += snprintf(ret_name + at, 3, "%02x", space->b[i]);
    snprintf(ret_name + at, (size_t)(SHARD_NAME_SIZE - at), ".%02x.%016llx", lane,
             (unsigned long long)number);
}
