/* See key_limits.h. */
#include "table/key_limits.h"

#include "table/entity.h"

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
