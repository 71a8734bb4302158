/* See usage.h. */
#include "service/usage.h"

#include "service/names.h"
#include "service/operation.h"

/* Number of records between calls of pace(), and per iterator, because an open iterator keeps its
 * state in the store. */
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

/* Reads LISTED records up to the step size. Returns STORE_OK if there are more. */
static enum store_result step(const struct usage_walk *walk, struct guid space, struct place *place,
                              struct usage *usage, uint64_t *ret_count)
{
    struct space_iterator *iterator =
        space_iterator_open(walk->store, space, place->partition, place->record, STORE_MAY_BLOCK);
    enum store_result result = STORE_OK;
    struct space_record record;

    *ret_count = 0;
    while (*ret_count < STEP_RECORDS && !(result = space_iterator_next(iterator, &record))) {
        add_record(walk->service, &record, usage);
        if (++*ret_count == STEP_RECORDS)
            place_set(place, &record);
    }
    space_iterator_close(iterator);
    return result;
}

static enum store_result count_listed(const struct usage_walk *walk, struct guid space,
                                      struct usage *usage, bool *ret_goes_on)
{
    enum store_result result = STORE_OK;
    struct place place;
    uint64_t count;

    place_init(&place);
    while (!result && *ret_goes_on) {
        result = step(walk, space, &place, usage, &count);
        *ret_goes_on = walk->pace(walk->context, count);
    }
    if ((!result || result == STORE_NOT_FOUND) && walk->service->usage->sum)
        result = walk->service->usage->sum(walk->store, place.arena, space, usage);
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

static bool is_one(const struct usage_functions *functions, const struct space_record *record,
                   struct guid *ret_space, struct usage *usage)
{
    if (functions->container(record, ret_space, &usage->quota_bytes))
        return true;
    usage->is_kept = functions->kept && functions->kept(record, ret_space);
    return usage->is_kept;
}

/* Finds the next container; its name is then in *place. Returns STORE_NOT_FOUND after the last one,
 * or like space_iterator_next(). */
static enum store_result next_container(const struct usage_walk *walk, struct place *place,
                                        struct guid *ret_space, struct usage *ret_usage)
{
    struct space_iterator *iterator =
        space_iterator_open(walk->store, account_space(walk->service->name, walk->account),
                            place->partition, place->record, STORE_MAY_BLOCK);
    enum store_result result;
    struct space_record record;

    *ret_usage = (struct usage){ .objects = 0 };
    do
        result = space_iterator_next(iterator, &record);
    while (!result && (record.partition_key.len == 0 || record.partition_key.len > NAME_MAX_BYTES ||
                       !is_one(walk->service->usage, &record, ret_space, ret_usage)));
    if (!result) {
        place_set(place, &record);
        place->name = place->partition;
        if (walk->service->usage->name && !ret_usage->is_kept)
            place->name = arena_copy(place->arena, walk->service->usage->name(&record));
    }
    space_iterator_close(iterator);
    return result;
}

enum store_result usage_look(const struct usage_walk *walk)
{
    enum store_result result = STORE_OK;
    bool goes_on = walk->service->usage != NULL;
    struct usage usage;
    struct place place;
    struct guid space;

    place_init(&place);
    while (goes_on && !(result = next_container(walk, &place, &space, &usage))) {
        if (walk->pace && walk->service->usage->inner_prefix)
            result = count_inner(walk, space, &usage, &goes_on);
        else if (walk->pace)
            result = count_listed(walk, space, &usage, &goes_on);
        if (result)
            break;
        goes_on = goes_on && walk->found(walk->context, place.name, &usage);
    }
    arena_free(place.arena);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}
