#include "store/rados/row_key.h"

#include <assert.h>
#include <stdio.h>

#include "base/crc.h"

#define FENCE_DIGITS 8
#define TASK_DIGITS  (16 + 32)

/* In a shard's name. */
#define LANE_AT      (2 + 32 + 1)
#define NUMBER_AT    (LANE_AT + 2 + 1)

#define ESCAPE       '\x01'
#define ESCAPED_END  '\x01'
#define ESCAPED_00   '\x02'
#define ESCAPED_01   '\x03'

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

static void add_end(struct text *key)
{
    text_add_char(key, ESCAPE);
    text_add_char(key, ESCAPED_END);
}

/* A kind and a key or name that is not ended. */
static void begin_open(struct text *key, struct arena *arena, char kind, struct bytes name)
{
    text_init(key, arena, name.len + 16);
    text_add_char(key, kind);
    add_escaped(key, name);
}

static void begin(struct text *key, struct arena *arena, char kind, struct bytes partition_key)
{
    begin_open(key, arena, kind, partition_key);
    add_end(key);
}

struct bytes row_key_bounds(void)
{
    return bytes_of("A", 1);
}

struct bytes row_key_looked(void)
{
    return bytes_of("W", 1);
}

struct bytes row_key_home(void)
{
    return bytes_of("H", 1);
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

static void begin_record(struct text *key, struct arena *arena, enum record_family family,
                         struct bytes partition_key, struct bytes record_key)
{
    begin(key, arena, family == RECORD_LISTED ? 'L' : 'P', partition_key);
    if (family == RECORD_INNER)
        text_add_char(key, 'i');
    add_escaped(key, record_key);
}

struct bytes row_key_record(struct arena *arena, enum record_family family,
                            struct bytes partition_key, struct bytes record_key)
{
    struct text key;

    begin_record(&key, arena, family, partition_key, record_key);
    return text_bytes(&key);
}

struct bytes row_key_limb(struct arena *arena, enum record_family family,
                          struct bytes partition_key, struct bytes last)
{
    struct text key;

    begin_record(&key, arena, family, partition_key, last);
    add_end(&key);
    return text_bytes(&key);
}

struct bytes row_key_index(struct arena *arena, struct bytes index_key, struct bytes partition_key)
{
    struct text key;

    begin(&key, arena, 'I', index_key);
    add_escaped(&key, partition_key);
    add_end(&key);
    return text_bytes(&key);
}

struct bytes row_key_index_prefix(struct arena *arena, struct bytes index_key)
{
    struct text key;

    begin_open(&key, arena, 'I', index_key);
    return text_bytes(&key);
}

struct bytes row_key_counter(struct arena *arena, struct bytes name)
{
    struct text key;

    begin_open(&key, arena, 'N', name);
    return text_bytes(&key);
}

struct bytes row_key_decided(struct arena *arena, struct bytes partition_key, uint32_t incarnation,
                             uint64_t number)
{
    struct text key;

    begin(&key, arena, 'P', partition_key);
    text_printf(&key, "c%08x%016llx", incarnation, (unsigned long long)number);
    return text_bytes(&key);
}

struct bytes row_key_piece(struct arena *arena, struct bytes partition_key, uint32_t extent,
                           uint64_t offset)
{
    struct text key;

    begin(&key, arena, 'P', partition_key);
    text_printf(&key, "p%08x%016llx", extent, (unsigned long long)offset);
    return text_bytes(&key);
}

struct bytes row_key_prepared(struct arena *arena, struct bytes partition_key, uint32_t number)
{
    struct text key;

    begin(&key, arena, 'P', partition_key);
    text_printf(&key, "x%08x", number);
    return text_bytes(&key);
}

struct bytes row_key_prepared_prefix(struct arena *arena, struct bytes partition_key)
{
    struct text key;

    begin(&key, arena, 'P', partition_key);
    text_add_char(&key, 'x');
    return text_bytes(&key);
}

struct bytes row_key_task(struct arena *arena, instant due, const struct guid *id)
{
    struct text key;

    text_init(&key, arena, 1 + TASK_DIGITS);
    text_printf(&key, "T%016llx", (unsigned long long)due);
    for (size_t i = 0; i < sizeof id->b; i++)
        text_printf(&key, "%02x", id->b[i]);
    return text_bytes(&key);
}

struct bytes row_key_slot_number(struct arena *arena, unsigned number)
{
    assert(number < ROW_SLOTS);
    return arena_printf(arena, "X%02x", number);
}

unsigned row_slot_of(struct bytes partition_key)
{
    return crc32c(0, partition_key.ptr, partition_key.len) / 16 % ROW_SLOTS;
}

struct bytes row_key_begin(struct arena *arena, char kind, struct bytes partition_key)
{
    struct text key;

    begin(&key, arena, kind, partition_key);
    return text_bytes(&key);
}

struct bytes row_key_before(struct arena *arena, char kind, struct bytes partition_key)
{
    struct bytes key = row_key_begin(arena, kind, partition_key);

    key.len--; /* END is twice the same byte, and behind a key is one of it */
    return key;
}

struct bytes row_key_behind(struct arena *arena, struct bytes key)
{
    return arena_printf(arena, "%.*s\x01", BYTES_ARG(key));
}

/* ---- reading ---- */

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

struct bytes row_key_place(struct arena *arena, struct bytes place)
{
    struct bytes rest = bytes_from(place, 1);
    struct text raw;
    size_t i = 0;

    text_init(&raw, arena, rest.len);
    while (i < rest.len) {
        char c = rest.ptr[i++];

        if (c != ESCAPE) {
            text_add_char(&raw, c);
            continue;
        }
        c = i < rest.len ? rest.ptr[i++] : ESCAPED_END;
        if (c != ESCAPED_00 && c != ESCAPED_01)
            break;
        text_add_char(&raw, c == ESCAPED_00 ? '\0' : ESCAPE);
    }
    return text_bytes(&raw);
}

bool row_key_hex(struct bytes digits, uint64_t *ret_value)
{
    uint64_t value = 0;

    for (size_t i = 0; i < digits.len; i++) {
        int digit = bytes_hex_digit(digits.ptr[i]);

        if (digit < 0)
            return false;
        value = value << 4 | (uint64_t)digit;
    }
    *ret_value = value;
    return true;
}

static bool read_fence(struct bytes digits, struct row_name *ret_name)
{
    uint64_t value;

    if (digits.len != FENCE_DIGITS || !row_key_hex(digits, &value))
        return false;
    *ret_name = (struct row_name){ .kind = ROW_FENCE, .incarnation = (uint32_t)value };
    return true;
}

static bool read_task(struct bytes digits, struct row_name *ret_name)
{
    struct row_name name = { .kind = ROW_TASK };
    uint64_t value;

    if (digits.len != TASK_DIGITS || !row_key_hex(bytes_of(digits.ptr, 16), &name.due))
        return false;
    for (size_t i = 0; i < sizeof name.id.b; i++) {
        if (!row_key_hex(bytes_of(digits.ptr + 16 + 2 * i, 2), &value))
            return false;
        name.id.b[i] = (uint8_t)value;
    }
    *ret_name = name;
    return true;
}

/* Behind the partition's key: a record, or where a limb ends. */
static bool read_record(struct bytes rest, struct arena *arena, enum record_family family,
                        struct row_name *name)
{
    struct bytes record = rest;

    if (take_escaped(&record, arena, false, &name->record_key)) {
        name->kind = family == RECORD_LISTED ? ROW_LISTED : ROW_INNER;
        return true;
    }
    name->kind = ROW_LIMB;
    name->family = family;
    return take_escaped(&rest, arena, true, &name->record_key) && rest.len == 0;
}

/* Of a row of one partition, behind the partition's key. */
static bool read_partition_row(struct bytes rest, struct arena *arena, struct row_name *name)
{
    char kind = rest.len > 0 ? rest.ptr[0] : '\0';

    rest = bytes_from(rest, 1);
    switch (kind) {
    case 'h':
        name->kind = ROW_HEADER;
        return rest.len == 0;
    case 'i':
        return read_record(rest, arena, RECORD_INNER, name);
    case 'c':
        name->kind = ROW_DECIDED;
        return rest.len > 0;
    case 'p':
        name->kind = ROW_PIECE;
        return rest.len > 0;
    case 'x':
        name->kind = ROW_PREPARED;
        return rest.len > 0;
    default:
        return false;
    }
}

static bool read_index(struct bytes rest, struct arena *arena, struct row_name *name)
{
    name->kind = ROW_INDEX;
    return take_escaped(&rest, arena, true, &name->record_key) &&
           take_escaped(&rest, arena, true, &name->partition_key) && rest.len == 0;
}

bool row_key_read(struct bytes key, struct arena *arena, struct row_name *ret_name)
{
    struct bytes rest = bytes_from(key, 1);
    struct row_name name = { .kind = ROW_BOUNDS };
    bool is_read = false;

    switch (key.len > 0 ? key.ptr[0] : '\0') {
    case 'A':
        is_read = rest.len == 0;
        break;
    case 'F':
        is_read = read_fence(rest, &name);
        break;
    case 'H':
        name.kind = ROW_HOME;
        is_read = rest.len == 0;
        break;
    case 'I':
        is_read = read_index(rest, arena, &name);
        break;
    case 'L':
        is_read = take_escaped(&rest, arena, true, &name.partition_key) &&
                  read_record(rest, arena, RECORD_LISTED, &name);
        break;
    case 'N':
        name.kind = ROW_COUNTER;
        is_read = take_escaped(&rest, arena, false, &name.record_key);
        break;
    case 'P':
        is_read = take_escaped(&rest, arena, true, &name.partition_key) &&
                  read_partition_row(rest, arena, &name);
        break;
    case 'T':
        is_read = read_task(rest, &name);
        break;
    case 'W':
        name.kind = ROW_LOOKED;
        is_read = rest.len == 0;
        break;
    case 'X':
        name.kind = ROW_SLOT;
        is_read = rest.len == 2;
        break;
    default:
        break;
    }
    if (is_read)
        *ret_name = name;
    return is_read;
}

unsigned space_lanes(const struct guid *space)
{
    unsigned lanes = 1u << (space->b[sizeof space->b - 1] & 7u);

    return lanes < SPACE_LANES_MAX ? lanes : SPACE_LANES_MAX;
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

bool shard_name_is_first(const char *name)
{
    return bytes_has_suffix(bytes_from_string(name), bytes_from_string(".0000000000000000"));
}

bool shard_name_read(const char *name, struct guid *ret_space, unsigned *ret_lane,
                     uint64_t *ret_number)
{
    uint64_t lane;

    if (!shard_name_space(name, ret_space) || name[LANE_AT - 1] != '.' ||
        !row_key_hex(bytes_of(name + LANE_AT, 2), &lane) || lane >= space_lanes(ret_space) ||
        name[NUMBER_AT - 1] != '.' || !row_key_hex(bytes_of(name + NUMBER_AT, 16), ret_number))
        return false;
    *ret_lane = (unsigned)lane;
    return true;
}

bool shard_name_space(const char *name, struct guid *ret_space)
{
    uint64_t value;

    if (strlen(name) + 1 != SHARD_NAME_SIZE || strncmp(name, "s.", 2) != 0)
        return false;
    for (size_t i = 0; i < sizeof ret_space->b; i++) {
        if (!row_key_hex(bytes_of(name + 2 + 2 * i, 2), &value))
            return false;
        ret_space->b[i] = (uint8_t)value;
    }
    return true;
}
