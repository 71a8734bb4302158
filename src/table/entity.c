/* Entities: see entity.h. */
#include "table/entity.h"

#include "base/words.h"

#include <assert.h>
#include <stdlib.h>

const struct property *entity_find(const struct entity *entity, struct bytes name)
{
    for (size_t i = 0; i < entity->count; i++)
        if (bytes_equal(entity->properties[i].name, name))
            return &entity->properties[i];
    return NULL;
}

/* Overhead that the service adds to the size of the data. decision: 160 */
#define ENTITY_OVERHEAD   4
#define PROPERTY_OVERHEAD 8

size_t entity_size(const struct entity *entity)
{
    size_t size = ENTITY_OVERHEAD + 2 * bytes_utf16_units(entity->partition_key) +
                  2 * bytes_utf16_units(entity->row_key);

    for (size_t i = 0; i < entity->count; i++)
        size += PROPERTY_OVERHEAD + 2 * bytes_utf16_units(entity->properties[i].name) +
                edm_value_size(&entity->properties[i].value);
    return size;
}

/* Returns an upper bound of the size: a string has at most as many code units as bytes. */
static size_t size_at_most(const struct entity *entity)
{
    size_t size = ENTITY_OVERHEAD + 2 * (entity->partition_key.len + entity->row_key.len);

    for (size_t i = 0; i < entity->count; i++) {
        const struct property *property = &entity->properties[i];

        size += PROPERTY_OVERHEAD + 2 * property->name.len +
                (property->value.type == EDM_STRING ? edm_text_size(property->value.as.bytes.len)
                                                    : edm_value_size(&property->value));
    }
    return size;
}

enum error entity_check(const struct entity *entity)
{
    if (entity->count > ENTITY_PROPERTIES_MAX)
        return E_TooManyProperties;
    if (size_at_most(entity) > ENTITY_BYTES_MAX && entity_size(entity) > ENTITY_BYTES_MAX)
        return E_EntityTooLarge;
    return OK;
}

static int by_name(const void *a, const void *b)
{
    const struct property *x = a, *y = b;

    return bytes_compare(x->name, y->name);
}

struct entity entity_merge(struct arena *arena, const struct entity *base,
                           const struct entity *over)
{
    struct property *merged =
        arena_array(arena, base->count + over->count, sizeof(struct property));
    struct entity to = *over;

    to.properties = merged;
    to.count = 0;
    for (size_t i = 0; i < base->count; i++) {
        const struct property *newer = entity_find(over, base->properties[i].name);

        merged[to.count++] = newer ? *newer : base->properties[i];
    }
    for (size_t i = 0; i < over->count; i++)
        if (!entity_find(base, over->properties[i].name))
            merged[to.count++] = over->properties[i];
    if (to.count > 0)
        qsort(merged, to.count, sizeof *merged, by_name);
    return to;
}

/* ---- keys ---- */

static struct bytes key_map(struct arena *arena, struct bytes from, const uint8_t pairs[2][2])
{
    char *to = arena_bytes(arena, from.len);

    for (size_t i = 0; i < from.len; i++) {
        uint8_t byte = (uint8_t)from.ptr[i];

        if (byte == pairs[0][0])
            byte = pairs[0][1];
        else if (byte == pairs[1][0])
            byte = pairs[1][1];
        to[i] = (char)byte;
    }
    return bytes_of(to, from.len);
}

struct bytes entity_key_encode(struct arena *arena, struct bytes utf8)
{
    return key_map(arena, utf8, (const uint8_t[2][2]){ { 0xEE, 0xF8 }, { 0xEF, 0xF9 } });
}

struct bytes entity_key_decode(struct arena *arena, struct bytes encoded)
{
    return key_map(arena, encoded, (const uint8_t[2][2]){ { 0xF8, 0xEE }, { 0xF9, 0xEF } });
}

/* Returns a mask of characters that a key may not contain, and of U+0080..U+00BF, half of which it
 * may. */
static word_bytes not_of_key(word_bytes text)
{
    return word_below(text, 0x20) | word_equal(text, 0x7F) | word_equal(text, '/') |
           word_equal(text, '\\') | word_equal(text, '#') | word_equal(text, '?') |
           word_equal(text, (char)0xC2);
}

enum error entity_key_check(struct bytes utf8)
{
    for (size_t i = 0; (i += word_run(bytes_from(utf8, i), not_of_key)) < utf8.len; i += 2) {
        /* U+0080..U+009F are C2 80..C2 9F. */
        if ((uint8_t)utf8.ptr[i] != 0xC2 || (i + 1 < utf8.len && (uint8_t)utf8.ptr[i + 1] < 0xA0))
            return E_OutOfRangeInput;
    }
    if (bytes_utf16_exceed(utf8, ENTITY_KEY_UNITS_MAX))
        return E_KeyValueTooLarge;
    return OK;
}

/* ---- key limits ---- */

int entity_place_compare(struct entity_place a, struct entity_place b)
{
    int order = bytes_compare(a.partition, b.partition);

    return order != 0 ? order : bytes_compare(a.row, b.row);
}

static struct bytes encoded(struct arena *arena, struct bytes key)
{
    return key.ptr ? entity_key_encode(arena, key) : key;
}

struct key_limits key_limits_of(struct arena *arena, const struct identity *identity)
{
    const struct sas_entities *entities;

    if (identity->kind != IDENTITY_SAS)
        return (struct key_limits){ .first = { .partition = { NULL, 0 } } };
    entities = &identity->sas->entities;
    return (struct key_limits){
        .first = { encoded(arena, entities->first_partition), encoded(arena, entities->first_row) },
        .last = { encoded(arena, entities->last_partition), encoded(arena, entities->last_row) },
    };
}

bool key_limits_end_before(const struct key_limits *limits, struct entity_place place)
{
    int order;

    if (!limits->last.partition.ptr)
        return false;
    order = bytes_compare(place.partition, limits->last.partition);
    if (order != 0 || !limits->last.row.ptr)
        return order > 0;
    return bytes_compare(place.row, limits->last.row) > 0;
}

bool key_limits_hold(const struct key_limits *limits, struct entity_place place)
{
    return entity_place_compare(place, limits->first) >= 0 && !key_limits_end_before(limits, place);
}
