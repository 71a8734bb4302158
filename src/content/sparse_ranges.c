/* Lists the ranges of sparse content that have bytes, or that differ between two generations. */
#include <stdlib.h>

#include "base/endian.h"
#include "content/sparse.h"

/* Maximum number of units examined per call */
#define UNITS_MAX   4096u
/* Changed units read at once, per epoch */
#define UNITS_BATCH (64u << 10)
#define EPOCH_BATCH 256u
/* Maximum number of ranges per call */
#define RANGES_MAX  10000u

/* ---- the list ---- */

struct list {
    struct content_ranges out;
    size_t max; /* capacity */
    uint64_t start, end;
};

/* Allocates all ranges in advance, because the arena is rewound after each unit. */
static struct list list_new(struct arena *arena, size_t max, uint64_t start, uint64_t end)
{
    struct list list = { .max = max < RANGES_MAX ? max : RANGES_MAX, .start = start, .end = end };

    list.out.ranges = arena_array(arena, list.max, sizeof list.out.ranges[0]);
    list.out.next = UINT64_MAX;
    return list;
}

/* Adds a range. Returns false and sets out.next if the list is full. */
static bool list_add(struct list *list, struct content_range range)
{
    struct content_range *last =
        list->out.count > 0 ? &list->out.ranges[list->out.count - 1] : NULL;

    range.start = range.start > list->start ? range.start : list->start;
    range.end = range.end < list->end ? range.end : list->end;
    if (range.start >= range.end)
        return true;
    if (last && last->end == range.start && last->is_hole == range.is_hole) {
        last->end = range.end;
        return true;
    }
    if (list->out.count == list->max) {
        list->out.next = range.start;
        return false;
    }
    list->out.ranges[list->out.count++] = range;
    return true;
}

/* ---- ranges with bytes ---- */

enum store_result content_ranges(struct read_view *before, struct arena *arena,
                                 const struct content *content, uint64_t start, uint64_t end,
                                 size_t max, struct content_ranges *ret_ranges)
{
    struct list list = list_new(arena, max, start, end);
    uint64_t unit = start / UNIT_BYTES;
    struct arena_mark without_unit;
    struct sparse_view view;
    enum store_result result;

    if (list.end > content->length)
        list.end = content->length;
    result = sparse_view_open(before, arena, content, &view);
    without_unit = arena_mark(arena);
    for (unsigned looked = 0; !result; unit++) {
        struct parts parts;

        result = sparse_next_unit(&view, unit, &unit);
        if (result || unit * UNIT_BYTES >= list.end)
            break;
        if (looked++ == UNITS_MAX) {
            list.out.next = unit * UNIT_BYTES;
            break;
        }
        result = sparse_unit(&view, unit, &parts);
        for (size_t i = 0; !result && i < parts.count; i++) {
            const struct part *part = &parts.items[i];

            if (!list_add(&list, (struct content_range){ part->start, part->end, false }))
                result = STORE_NOT_FOUND;
        }
        arena_rewind(arena, without_unit);
    }
    if (result && result != STORE_NOT_FOUND)
        return result;
    *ret_ranges = list.out;
    return STORE_OK;
}

/* ---- units that changed ---- */

struct units {
    uint64_t *numbers;
    size_t count;
    size_t batch; /* number of units read per epoch */
    uint64_t end; /* the list of units is complete up to this one; UINT64_MAX: entirely */
};

/* Adds the first units, from `unit` on, that changed in the epoch. */
static enum store_result add_changed(struct read_view *before, uint64_t id, uint32_t epoch,
                                     uint64_t unit, struct units *units)
{
    char buffer[CHANGED_KEY_SIZE];
    struct bytes from = sparse_changed_key(id, epoch, unit, buffer);
    enum store_result result;
    struct record record;
    size_t count = 0;
    struct scan *scan = scan_open(before, RECORD_INNER, bytes_of(buffer, SPARSE_PREFIX + 4), from);

    while ((result = scan_next(scan, NULL, &record)) == STORE_OK) {
        uint64_t number = be64_get(record.key.ptr + SPARSE_PREFIX + 4);

        if (count == units->batch) {
            units->end = number < units->end ? number : units->end;
            break;
        }
        units->numbers[units->count++] = number;
        count++;
    }
    scan_close(scan);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

/* Adds the units of a cleared range that have records. */
static enum store_result add_cleared(const struct sparse_view *view, const struct hole *hole,
                                     uint64_t unit, struct units *units)
{
    uint64_t last = (hole->end - 1) / UNIT_BYTES;

    if (unit < hole->start / UNIT_BYTES)
        unit = hole->start / UNIT_BYTES;
    for (size_t count = 0;; unit++) {
        enum store_result result = sparse_next_unit(view, unit, &unit);

        if (result || unit > last)
            return result == STORE_NOT_FOUND ? STORE_OK : result;
        if (count++ == units->batch) {
            units->end = unit < units->end ? unit : units->end;
            return STORE_OK;
        }
        units->numbers[units->count++] = unit;
    }
}

static int compare_numbers(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

/* Finds the first epoch, from `epoch` on, with a change. */
static enum store_result next_epoch(struct read_view *before, uint64_t id, uint32_t epoch,
                                    uint32_t *ret_epoch)
{
    char buffer[CHANGED_KEY_SIZE];
    struct bytes from = sparse_changed_key(id, epoch, 0, buffer);
    enum store_result result;
    struct record record;
    struct scan *scan = scan_open(before, RECORD_INNER, bytes_of(buffer, SPARSE_PREFIX), from);

    result = scan_next(scan, NULL, &record);
    if (!result && record.key.len != CHANGED_KEY_SIZE)
        result = content_damaged(id, 0, "invalid key of a changed unit");
    if (!result)
        *ret_epoch = be32_get(record.key.ptr + SPARSE_PREFIX);
    scan_close(scan);
    return result;
}

struct epochs {
    uint32_t *numbers;
    size_t count, capacity;
};

/* Finds the epochs in (older, newer] with a change. */
static enum store_result find_epochs(const struct sparse_view *view, uint32_t older,
                                     struct epochs *ret_epochs)
{
    struct epochs epochs = { .capacity = 0 };
    enum store_result result;
    uint32_t epoch = older + 1;

    while ((result = next_epoch(view->before, view->content->id, epoch, &epoch)) == STORE_OK &&
           epoch <= view->content->epoch) {
        if (epochs.count == epochs.capacity) {
            uint32_t *grown;

            epochs.capacity = epochs.capacity > 0 ? 2 * epochs.capacity : 16;
            grown = arena_array(view->arena, epochs.capacity, sizeof grown[0]);
            if (epochs.count > 0)
                memcpy(grown, epochs.numbers, epochs.count * sizeof grown[0]);
            epochs.numbers = grown;
        }
        epochs.numbers[epochs.count++] = epoch++;
    }
    *ret_epochs = epochs;
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

static void sort(struct units *units)
{
    size_t count = 0;

    if (units->count > 0)
        qsort(units->numbers, units->count, sizeof units->numbers[0], compare_numbers);
    for (size_t i = 0; i < units->count && units->numbers[i] < units->end; i++)
        if (count == 0 || units->numbers[count - 1] != units->numbers[i])
            units->numbers[count++] = units->numbers[i];
    units->count = count;
}

/* Returns the first units, from `unit` on, that may differ, sorted and without duplicates. */
static enum store_result changed_units(const struct sparse_view *view, uint32_t older,
                                       const struct epochs *epochs, uint64_t unit,
                                       struct units *ret_units)
{
    size_t batch = UNITS_BATCH / (epochs->count + 1);
    struct units units = { .end = UINT64_MAX };
    enum store_result result = STORE_OK;

    units.batch = batch == 0 ? 1 : batch > EPOCH_BATCH ? EPOCH_BATCH : batch;
    units.numbers = arena_array(view->arena, (epochs->count + HOLES_MAX) * units.batch,
                                sizeof units.numbers[0]);
    for (size_t i = 0; !result && i < epochs->count; i++)
        result = add_changed(view->before, view->content->id, epochs->numbers[i], unit, &units);
    for (size_t i = 0; !result && i < view->hole_count; i++)
        if (view->holes[i].epoch > older)
            result = add_cleared(view, &view->holes[i], unit, &units);
    if (result)
        return result;
    sort(&units);
    *ret_units = units;
    return STORE_OK;
}

/* ---- difference ---- */

/* Adds the ranges that differ, in one pass over the boundaries of the parts of both versions. */
static bool add_difference(struct list *list, uint64_t stamp, const struct parts *older,
                           const struct parts *newer, uint64_t start, uint64_t end)
{
    size_t o = 0, n = 0;

    while (start < end) {
        const struct part *was, *is;
        uint64_t until = end;

        while (o < older->count && older->items[o].end <= start)
            o++;
        while (n < newer->count && newer->items[n].end <= start)
            n++;
        was = o < older->count ? &older->items[o] : NULL;
        is = n < newer->count ? &newer->items[n] : NULL;
        if (was)
            until = start < was->start ? was->start : was->end;
        if (is && (start < is->start ? is->start : is->end) < until)
            until = start < is->start ? is->start : is->end;
        if (was && was->start > start)
            was = NULL;
        if (is && is->start > start)
            is = NULL;
        if (is && is->stamp > stamp &&
            !list_add(list, (struct content_range){ start, until, false }))
            return false;
        if (was && !is && !list_add(list, (struct content_range){ start, until, true }))
            return false;
        start = until;
    }
    return true;
}

static enum store_result add_unit(struct list *list, const struct sparse_view *older,
                                  const struct sparse_view *newer, uint64_t unit)
{
    struct arena_mark without_unit = arena_mark(newer->arena);
    struct parts was, is;
    enum store_result result = sparse_unit(older, unit, &was);

    if (!result)
        result = sparse_unit(newer, unit, &is);
    if (!result && !add_difference(list, older->content->stamp, &was, &is, unit * UNIT_BYTES,
                                   (unit + 1) * UNIT_BYTES))
        result = STORE_NOT_FOUND;
    arena_rewind(newer->arena, without_unit);
    return result;
}

/* Adds the differences in these units. Returns STORE_NOT_FOUND once the list is full or
 * complete. */
static enum store_result add_units(struct list *list, const struct sparse_view *older,
                                   const struct sparse_view *newer, const struct units *units,
                                   unsigned *looked)
{
    for (size_t i = 0; i < units->count; i++) {
        uint64_t unit = units->numbers[i];
        enum store_result result;

        if (unit * UNIT_BYTES >= list->end)
            return STORE_NOT_FOUND;
        if ((*looked)++ == UNITS_MAX) {
            list->out.next = unit * UNIT_BYTES;
            return STORE_NOT_FOUND;
        }
        result = add_unit(list, older, newer, unit);
        if (result)
            return result;
    }
    return STORE_OK;
}

enum store_result content_difference(struct read_view *before, struct arena *arena,
                                     const struct content *older, const struct content *content,
                                     uint64_t start, uint64_t end, size_t max,
                                     struct content_ranges *ret_ranges)
{
    struct list list = list_new(arena, max, start, end);
    struct units units = { .end = start / UNIT_BYTES };
    struct sparse_view was, is;
    struct arena_mark without_units;
    struct epochs epochs;
    unsigned looked = 0;
    enum store_result result = sparse_view_open(before, arena, older, &was);

    if (!result)
        result = sparse_view_open(before, arena, content, &is);
    if (!result)
        result = find_epochs(&is, older->epoch, &epochs);
    without_units = arena_mark(arena);
    while (!result && units.end != UINT64_MAX && units.end * UNIT_BYTES < end) {
        result = changed_units(&is, older->epoch, &epochs, units.end, &units);
        if (!result)
            result = add_units(&list, &was, &is, &units, &looked);
        arena_rewind(arena, without_units);
    }
    if (result && result != STORE_NOT_FOUND)
        return result;
    *ret_ranges = list.out;
    return STORE_OK;
}
