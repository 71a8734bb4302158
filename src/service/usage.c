/* See usage.h. */
#include "service/usage.h"

#include "service/names.h"
#include "service/operation.h"
#include "service/space_parts.h"
#include "service/usage_parts.h"

/* Records between calls of pace(), and per iterator, because an open iterator holds state in the
 * store. */
#define STEP_RECORDS   1000u
#define NAME_MAX_BYTES 4096u
#define ARENA_MAX      ((size_t)16 << 20)

/* ---- contents of a container ---- */

static void add_record(const struct service *service, const struct space_record *record,
                       struct usage *usage)
{
    if (service->usage->record) {
        service->usage->record(record, usage);
        return;
    }
    usage->objects++;
    usage->bytes += record->partition_key.len + record->record_key.len + record->value.len;
}

/* Position of an iterator, after the last record that it returned. */
struct place {
    struct arena *arena; /* used only by this position */
    struct arena_mark start;
    struct bytes partition, record;
    struct bytes name; /* of the record's container, as it was created */
};

static void place_init(struct place *place)
{
    *place = (struct place){ .arena = arena_new(ARENA_MAX) };
    place->start = arena_mark(place->arena);
}

static void place_set(struct place *place, const struct space_record *record)
{
    struct text behind;

    arena_rewind(place->arena, place->start);
    place->partition = arena_copy(place->arena, record->partition_key);
    text_init(&behind, place->arena, record->record_key.len + 1);
    text_add(&behind, record->record_key);
    text_add_char(&behind, '\0');
    place->record = text_bytes(&behind);
}

/* What the records of a space count for: a container, or those of whose parts they are. */
struct tally {
    struct usage *usage;
    struct usage_parts *parts; /* NULL if the container has the entire space */
};

static enum store_result count_record(const struct usage_walk *walk, const struct tally *tally,
                                      const struct space_record *record)
{
    struct usage *usage = tally->usage;
    enum store_result result = STORE_OK;

    if (tally->parts)
        result = usage_parts_find(tally->parts, record->partition_key, &usage);
    if (!result && usage)
        add_record(walk->service, record, usage);
    return result;
}

/* Reads LISTED records up to the step size. Returns STORE_OK if there are more. */
static enum store_result step(const struct usage_walk *walk, struct guid space, struct place *place,
                              const struct tally *tally, uint64_t *ret_count)
{
    struct space_iterator *iterator =
        space_iterator_open(walk->store, space, place->partition, place->record, STORE_MAY_BLOCK);
    enum store_result result = STORE_OK;
    struct space_record record;

    *ret_count = 0;
    while (!result && *ret_count < STEP_RECORDS) {
        result = space_iterator_next(iterator, &record);
        if (!result)
            result = count_record(walk, tally, &record);
        if (!result && ++*ret_count == STEP_RECORDS)
            place_set(place, &record);
    }
    space_iterator_close(iterator);
    return result;
}

static enum store_result count_listed(const struct usage_walk *walk, struct guid space,
                                      const struct tally *tally, bool *ret_goes_on)
{
    enum store_result result = STORE_OK;
    struct place place;
    uint64_t count;

    place_init(&place);
    while (!result && *ret_goes_on) {
        result = step(walk, space, &place, tally, &count);
        *ret_goes_on = walk->pace(walk->context, count);
    }
    if ((!result || result == STORE_NOT_FOUND) && walk->service->usage->sum)
        result = walk->service->usage->sum(walk->store, place.arena, space, tally->usage);
    arena_free(place.arena);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

static enum store_result count_inner(const struct usage_walk *walk, struct guid space,
                                     struct usage *usage, bool *ret_goes_on)
{
    const struct partition at = { .space = space, .key = BYTES("") };
    struct read_view *snapshot = read_view_open(walk->store, at, STORE_MAY_BLOCK);
    struct bytes prefix = bytes_from_string(walk->service->usage->inner_prefix);
    struct scan *scan = scan_open(snapshot, RECORD_INNER, prefix, prefix);
    struct arena *arena = arena_new(ARENA_MAX);
    struct arena_mark start = arena_mark(arena);
    enum store_result result = STORE_OK;
    struct record record;
    uint64_t count = 0;

    while (*ret_goes_on && !(result = scan_next(scan, arena, &record))) {
        usage->objects++;
        usage->bytes += record.key.len + record.value.len;
        for (size_t i = 0; i < record.piece_count; i++)
            usage->bytes += record.pieces[i].length;
        arena_rewind(arena, start);
        if (++count % STEP_RECORDS == 0)
            *ret_goes_on = walk->pace(walk->context, STEP_RECORDS);
    }
    scan_close(scan);
    read_view_close(snapshot);
    arena_free(arena);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

/* ---- containers of an account ---- */

/* A container and its usage. */
struct counted {
    struct guid space;
    bool has_part; /* only a part of the space is its own: */
    struct guid part;
    struct usage usage;
    struct usage_parts *parts; /* of the space that containers share, once it was counted */
};

static bool is_one(const struct service *service, const struct space_record *record,
                   struct counted *counted)
{
    const struct usage_functions *functions = service->usage;
    struct usage *usage = &counted->usage;

    if (!functions->container(record, &counted->space, &usage->quota_bytes)) {
        usage->is_kept = functions->kept && functions->kept(record, &counted->space);
        if (!usage->is_kept)
            return false;
    }
    counted->has_part = service->parts && service->parts->of_container(record, &counted->part);
    return true;
}

/* Finds the next container; its name is then in *place. Returns STORE_NOT_FOUND after the last one,
 * or like space_iterator_next(). */
static enum store_result next_container(const struct usage_walk *walk, struct place *place,
                                        struct counted *counted)
{
    struct space_iterator *iterator =
        space_iterator_open(walk->store, account_space(walk->service->name, walk->account),
                            place->partition, place->record, STORE_MAY_BLOCK);
    enum store_result result;
    struct space_record record;

    counted->usage = (struct usage){ .objects = 0 };
    do
        result = space_iterator_next(iterator, &record);
    while (!result && (record.partition_key.len == 0 || record.partition_key.len > NAME_MAX_BYTES ||
                       !is_one(walk->service, &record, counted)));
    if (!result) {
        place_set(place, &record);
        place->name = place->partition;
        if (walk->service->usage->name && !counted->usage.is_kept)
            place->name = arena_copy(place->arena, walk->service->usage->name(&record));
    }
    space_iterator_close(iterator);
    return result;
}

/* Counts a part of a space, and with the first one all parts. */
static enum store_result count_part(const struct usage_walk *walk, struct counted *counted,
                                    bool *ret_goes_on)
{
    enum store_result result = STORE_OK;

    if (!usage_parts_are_of(counted->parts, &counted->space)) {
        usage_parts_free(counted->parts);
        counted->parts = usage_parts_new(walk, counted->space);
        result = count_listed(walk, counted->space, &(struct tally){ .parts = counted->parts },
                              ret_goes_on);
    }
    usage_parts_add(counted->parts, counted->part, &counted->usage);
    return result;
}

static enum store_result count(const struct usage_walk *walk, struct counted *counted,
                               bool *ret_goes_on)
{
    if (walk->service->usage->inner_prefix)
        return count_inner(walk, counted->space, &counted->usage, ret_goes_on);
    if (counted->has_part)
        return count_part(walk, counted, ret_goes_on);
    return count_listed(walk, counted->space, &(struct tally){ .usage = &counted->usage },
                        ret_goes_on);
}

enum store_result usage_look(const struct usage_walk *walk)
{
    struct counted counted = { .parts = NULL };
    enum store_result result = STORE_OK;
    bool goes_on = walk->service->usage != NULL;
    struct place place;

    place_init(&place);
    while (goes_on && !(result = next_container(walk, &place, &counted))) {
        if (walk->pace)
            result = count(walk, &counted, &goes_on);
        if (result)
            break;
        goes_on = goes_on && walk->found(walk->context, place.name, &counted.usage);
    }
    usage_parts_free(counted.parts);
    arena_free(place.arena);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}
