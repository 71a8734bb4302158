#include "store/rados/front_end_rows.h"

#include "base/endian.h"
#include "store/rados/row_key.h"
#include "store/rados/shard_rows.h"

#define KEY_DIGITS    8
#define NUMBER_DIGITS 16
#define RETIRED_SIZE  (1 + 8)

static struct bytes key_of(struct arena *arena, char kind, uint32_t incarnation)
{
    return arena_printf(arena, "%c%08x", kind, incarnation);
}

struct bytes beat_key(struct arena *arena, uint32_t incarnation)
{
    return key_of(arena, 'b', incarnation);
}

struct bytes living_key(struct arena *arena, uint32_t incarnation)
{
    return key_of(arena, 'l', incarnation);
}

struct bytes living_value(void)
{
    return bytes_from_string("1");
}

struct bytes retired_key(struct arena *arena, uint32_t incarnation)
{
    return key_of(arena, 'r', incarnation);
}

struct bytes intent_key(struct arena *arena, uint32_t incarnation, uint64_t first)
{
    return arena_printf(arena, "i%08x%016llx", incarnation, (unsigned long long)first);
}

struct bytes intent_prefix(struct arena *arena, uint32_t incarnation)
{
    return key_of(arena, 'i', incarnation);
}

struct bytes intent_end(struct arena *arena, uint32_t incarnation)
{
    return arena_printf(arena, "i%08xg", incarnation); /* behind all hex digits */
}

uint64_t intent_first(uint64_t number)
{
    return (number - 1) / INTENT_NUMBERS * INTENT_NUMBERS + 1;
}

bool front_end_of_key(struct bytes key, uint32_t *ret_incarnation)
{
    uint64_t incarnation;

    if (key.len != 1 + KEY_DIGITS || !row_key_hex(bytes_from(key, 1), &incarnation))
        return false;
    *ret_incarnation = (uint32_t)incarnation;
    return true;
}

struct bytes intent_write(struct arena *arena, unsigned looks)
{
    const char byte = (char)looks;

    return row_value_write(arena, bytes_of(&byte, 1));
}

bool intent_read(const struct port_row *row, struct intent *ret_intent)
{
    struct bytes value;
    uint64_t first;

    if (row->key.len != 1 + KEY_DIGITS + NUMBER_DIGITS ||
        !row_key_hex(bytes_from(row->key, 1 + KEY_DIGITS), &first) || first == 0 ||
        first != intent_first(first) || !row_value_read(row->value, &value) || value.len != 1)
        return false;
    *ret_intent = (struct intent){ first, (unsigned char)value.ptr[0] };
    return true;
}

struct bytes retired_write(struct arena *arena, const struct retired *retired)
{
    char raw[RETIRED_SIZE];

    raw[0] = (char)retired->looks;
    be64_put(raw + 1, retired->at);
    return row_value_write(arena, bytes_of(raw, sizeof raw));
}

bool retired_read(struct bytes row, struct retired *ret_retired)
{
    struct bytes value;

    if (!row_value_read(row, &value) || value.len != RETIRED_SIZE)
        return false;
    *ret_retired = (struct retired){ (unsigned char)value.ptr[0], be64_get(value.ptr + 1) };
    return true;
}
