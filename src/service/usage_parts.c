/* See usage_parts.h. */
#include "service/usage_parts.h"

#include <stdlib.h>

#include "service/operation.h"
#include "service/space_parts.h"

#define ARENA_MAX  ((size_t)1 << 20)
#define FIRST_ROOM 64u

struct part {
    struct guid part; /* zero: the slot is free */
    struct usage usage;
};

struct usage_parts {
    struct store *store;
    struct guid space;
    struct part_finder finder;
    /* hash table with open addressing; room is a power of two */
    struct part *parts;
    size_t count, room;
};

static enum store_result read_record(void *context, struct bytes partition_key, struct arena *arena,
                                     struct bytes *ret_value)
{
    const struct usage_parts *parts = context;
    struct read_view *view = read_view_open(
        parts->store, (struct partition){ parts->space, partition_key }, STORE_MAY_BLOCK);
    struct record record = { .piece_count = 0 };
    enum store_result result =
        read_view_get(view, RECORD_LISTED, bytes_from_string(parts->finder.functions->record_key),
                      arena, &record);

    read_view_close(view);
    *ret_value = record.value;
    return result;
}

struct usage_parts *usage_parts_new(const struct usage_walk *walk, struct guid space)
{
    struct usage_parts *parts = xcalloc(1, sizeof *parts);

    parts->store = walk->store;
    parts->space = space;
    parts->finder = (struct part_finder){ .functions = walk->service->parts,
                                          .read = read_record,
                                          .context = parts,
                                          .arena = arena_new(ARENA_MAX) };
    parts->room = FIRST_ROOM;
    parts->parts = xcalloc(parts->room, sizeof *parts->parts);
    return parts;
}

void usage_parts_free(struct usage_parts *parts)
{
    if (!parts)
        return;
    arena_free(parts->finder.arena);
    free(parts->parts);
    free(parts);
}

bool usage_parts_are_of(const struct usage_parts *parts, const struct guid *space)
{
    return parts && guid_equal(&parts->space, space);
}

/* Returns the slot of a part, or the free slot for it. */
static struct part *place_of(struct part *parts, size_t room, const struct guid *part)
{
    size_t at = guid_hash(part);

    while (!guid_is_zero(&parts[at & (room - 1)].part) &&
           !guid_equal(&parts[at & (room - 1)].part, part))
        at++;
    return &parts[at & (room - 1)];
}

static void grow(struct usage_parts *parts)
{
    size_t room = 2 * parts->room;
    struct part *grown = xcalloc(room, sizeof *grown);

    for (size_t i = 0; i < parts->room; i++)
        if (!guid_is_zero(&parts->parts[i].part))
            *place_of(grown, room, &parts->parts[i].part) = parts->parts[i];
    free(parts->parts);
    parts->parts = grown;
    parts->room = room;
}

enum store_result usage_parts_find(struct usage_parts *parts, struct bytes partition_key,
                                   struct usage **ret_usage)
{
    struct guid found;
    struct part *part;
    enum store_result result = part_find(&parts->finder, partition_key, &found);

    *ret_usage = NULL;
    if (result || guid_is_zero(&found))
        return result;
    if (2 * parts->count >= parts->room)
        grow(parts);
    part = place_of(parts->parts, parts->room, &found);
    parts->count += guid_is_zero(&part->part);
    part->part = found;
    *ret_usage = &part->usage;
    return STORE_OK;
}

void usage_parts_add(const struct usage_parts *parts, struct guid part, struct usage *usage)
{
    const struct usage *counted = &place_of(parts->parts, parts->room, &part)->usage;

    usage->objects += counted->objects;
    usage->uncommitted += counted->uncommitted;
    usage->bytes += counted->bytes;
}
