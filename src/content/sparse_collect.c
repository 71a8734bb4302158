/* Deletes, in steps, sparse data that no generation contains any more. */
#include <assert.h>

#include "base/endian.h"
#include "content/sparse_write.h"

/* Arena for one unit; rewound after each */
#define UNIT_ARENA_MAX ((size_t)64 << 20)
/* A page or unit has a version for each generation that wrote to it. After this many versions
 * outside the interval, a new scan is opened that skips the others. */
#define IRRELEVANT_MAX 8

/* ---- a deleted generation ---- */

/* Versions with an epoch in (older, newer]. At most one generation still uses any of them. */
struct interval {
    struct read_view *before;
    struct changes *changes;
    struct arena *arena; /* rewound after each unit */
    uint64_t id;
    bool has_older, has_newer;
    uint32_t older, newer;
    struct budget *budget;
    size_t records_read; /* records read of the current unit */
};

static void delete_version(const struct interval *in, const struct record *record)
{
    changes_delete(in->changes, RECORD_INNER, record->key);
    changes_release(in->changes, record->pieces, record->piece_count);
    budget_spend(in->budget, 1);
}

/* Versions of one page or unit in scan order, newest first. */
struct series {
    uint64_t number;
    bool begun;
    bool has_newest;              /* a version in the interval was retained */
    char newest[SPARSE_KEY_SIZE]; /* key of that version */
    bool newest_is_empty;         /* it has no parts and only hides older versions */
    bool has_older;               /* a version with an epoch up to `older` exists */
    unsigned passed;              /* versions skipped outside of the interval */
};

/* Deletes the newest version if it has no parts and does not hide an older version. */
static void end_series(const struct interval *in, const struct series *series)
{
    if (series->has_newest && series->newest_is_empty && !series->has_older)
        changes_delete(in->changes, RECORD_INNER, bytes_of(series->newest, sizeof series->newest));
}

static void keep_newest(const struct interval *in, struct series *series,
                        const struct record *record)
{
    struct arena_mark mark = arena_mark(in->arena);
    struct version version;

    series->has_newest = true;
    memcpy(series->newest, record->key.ptr, sizeof series->newest);
    series->newest_is_empty =
        sparse_decode(record, in->arena, &version) && version.parts.count == 0;
    arena_rewind(in->arena, mark);
}

static void look_at(const struct interval *in, struct series *series, const struct record *record)
{
    uint64_t number = be64_get(record->key.ptr + SPARSE_PREFIX);
    uint32_t epoch = UINT32_MAX - be32_get(record->key.ptr + SPARSE_NUMBER_END);

    if (!series->begun || series->number != number) {
        end_series(in, series);
        *series = (struct series){ .number = number, .begun = true };
    }
    if (in->has_newer && epoch > in->newer) {
        series->passed++;
    } else if (in->has_older && epoch <= in->older) {
        series->has_older = true;
        series->passed++;
    } else if (!in->has_newer || series->has_newest) {
        delete_version(in, record);
    } else {
        keep_newest(in, series, record);
    }
}

/* Returns the key at which to open a new scan after many versions outside the interval. */
static struct bytes key_after_skipped(const struct interval *in, enum sparse_kind kind,
                                      const struct series *series, char buffer[SPARSE_KEY_SIZE])
{
    return series->has_older ? sparse_key(in->id, kind, series->number + 1, UINT32_MAX, buffer)
                             : sparse_key(in->id, kind, series->number, in->newer, buffer);
}

/* Processes versions starting at `from`, up to the last one of `last` (returns STORE_NOT_FOUND).
 * Stops earlier when the budget is spent or after many versions outside the interval. */
static enum store_result process_versions(struct interval *in, struct bytes from, uint64_t last,
                                          struct series *series)
{
    struct scan *scan =
        scan_open(in->before, RECORD_INNER, bytes_of(from.ptr, SPARSE_PREFIX), from);
    enum store_result result = STORE_OK;
    struct record record;

    series->passed = 0;
    while (!result && series->passed < IRRELEVANT_MAX && !budget_is_spent(in->budget)) {
        result = scan_next(scan, NULL, &record);
        if (!result && record.key.len != SPARSE_KEY_SIZE)
            result = content_damaged(in->id, last, "invalid page or unit key");
        if (!result && be64_get(record.key.ptr + SPARSE_PREFIX) > last)
            result = STORE_NOT_FOUND;
        if (!result)
            look_at(in, series, &record);
        in->records_read++;
    }
    scan_close(scan);
    return result;
}

/* Processes all versions of pages or units first..last. If the budget is spent, stops early and
 * must be repeated. */
static enum store_result collect_series(struct interval *in, enum sparse_kind kind, uint64_t first,
                                        uint64_t last)
{
    struct series series = { .begun = false };
    char buffer[SPARSE_KEY_SIZE];
    struct bytes from = sparse_key(in->id, kind, first, UINT32_MAX, buffer);
    enum store_result result;

    while ((result = process_versions(in, from, last, &series)) == STORE_OK) {
        if (budget_is_spent(in->budget))
            return STORE_OK;
        from = key_after_skipped(in, kind, &series, buffer);
    }
    if (result != STORE_NOT_FOUND)
        return result;
    end_series(in, &series);
    return STORE_OK;
}

/* Deletes all records of content that no generation retains. */
static enum store_result delete_all(const struct interval *in)
{
    static const char kinds[] = { SPARSE_PAGE, SPARSE_UNIT, 'd', 'g', 'h' };

    for (size_t i = 0; i < sizeof kinds; i++)
        backlog_add_kind(in->changes, in->id, kinds[i]);
    return STORE_NOT_FOUND;
}

/* Units processed by this step. A unit may be listed in several epochs, and a step does not see its
 * own deletions. */
struct seen {
    uint64_t *units;
    size_t count;
};

static bool is_first(struct seen *seen, uint64_t unit)
{
    for (size_t i = 0; i < seen->count; i++)
        if (seen->units[i] == unit)
            return false;
    seen->units[seen->count++] = unit;
    return true;
}

/* Processes a record that lists a unit as changed. Sets *ret_rest if more of the unit must be
 * deleted. The next step then starts with the unit again: it skips, without spending budget, the
 * few records per page that this step retained, and deletes the following ones. */
static enum store_result collect_unit(struct interval *in, const struct record *record,
                                      struct seen *seen, bool *ret_rest)
{
    uint64_t unit = be64_get(record->key.ptr + SPARSE_PREFIX + 4), page = unit * PAGES_OF_UNIT;
    enum store_result result = STORE_OK;

    in->records_read = 1;
    *ret_rest = false;
    if (is_first(seen, unit)) {
        result = collect_series(in, SPARSE_PAGE, page, page + PAGES_OF_UNIT - 1);
        if (!result && !budget_is_spent(in->budget))
            result = collect_series(in, SPARSE_UNIT, unit, unit);
        *ret_rest = budget_is_spent(in->budget);
    }
    if (result || *ret_rest)
        return result;
    /* no pair of generations needs this record any more */
    if (!in->has_older || !in->has_newer)
        changes_delete(in->changes, RECORD_INNER, record->key);
    budget_spend(in->budget, in->records_read);
    return STORE_OK;
}

/* Processes the units that changed from first_epoch up to the newer generation. backlog->from: key
 * to continue with */
static enum store_result collect_changed(struct interval *in, uint32_t first_epoch,
                                         struct backlog *backlog)
{
    struct seen seen = { .units =
                             arena_array(in->arena, in->budget->records, sizeof seen.units[0]) };
    char buffer[CHANGED_KEY_SIZE];
    struct bytes from = sparse_changed_key(in->id, first_epoch, 0, buffer);
    enum store_result result;
    struct record record;
    struct scan *scan;
    bool rest;

    if (backlog->from.len > 0)
        from = backlog->from;
    scan = scan_open(in->before, RECORD_INNER, bytes_of(buffer, SPARSE_PREFIX), from);
    while ((result = scan_next(scan, NULL, &record)) == STORE_OK) {
        if (record.key.len != CHANGED_KEY_SIZE) {
            result = content_damaged(in->id, 0, "invalid key of a changed unit");
            break;
        }
        if (in->has_newer && be32_get(record.key.ptr + SPARSE_PREFIX) > in->newer) {
            result = STORE_NOT_FOUND;
            break;
        }
        rest = budget_is_spent(in->budget);
        if (!rest)
            result = collect_unit(in, &record, &seen, &rest);
        if (!result && rest)
            backlog->from = arena_copy(changes_arena(in->changes), record.key);
        if (result || rest)
            break;
    }
    scan_close(scan);
    return result;
}

/* Processes an interval. in: partially initialized; the rest is set here */
static enum store_result collect_interval(struct interval *in, struct backlog *backlog)
{
    struct neighbours around;
    enum store_result result = sparse_neighbours(in->before, in->id, backlog->part, &around);
    uint32_t first = backlog->part + 1;

    if (result)
        return result;
    in->has_older = around.has_older;
    in->has_newer = around.has_newer;
    in->older = around.older;
    in->newer = around.newer;
    if (!in->has_older && !in->has_newer)
        return delete_all(in);
    if (!in->has_newer) /* delete everything after the older generation */
        first = in->older + 1;
    return collect_changed(in, first, backlog);
}

enum store_result sparse_collect_generation(struct read_view *before, struct changes *changes,
                                            struct backlog *backlog, struct budget *budget)
{
    struct interval in = { .before = before,
                           .changes = changes,
                           .arena = arena_new(UNIT_ARENA_MAX),
                           .id = backlog->id,
                           .budget = budget };
    enum store_result result = collect_interval(&in, backlog);

    arena_free(in.arena);
    return result;
}

/* ---- a cleared large range ---- */

/* Removes the data in the hole from one page or unit. */
static enum store_result clear_range(const struct sparse_writer *writer, const struct hole *hole,
                                     enum sparse_kind kind, uint64_t number)
{
    struct version version;
    struct parts parts;
    uint64_t before_cut = 0, after_cut = 0;
    enum store_result result = sparse_version(writer->view, kind, number, &version);

    if (result || !version.found)
        return result;
    parts = parts_copy(&version.parts);
    sparse_remove_hole(hole, &parts);
    for (size_t i = 0; i < version.parts.count; i++)
        before_cut += version.parts.items[i].end - version.parts.items[i].start;
    for (size_t i = 0; i < parts.count; i++)
        after_cut += parts.items[i].end - parts.items[i].start;
    if (before_cut != after_cut)
        sparse_replace(writer, kind, number, &version, &parts);
    return STORE_OK;
}

static enum store_result cut_unit(const struct sparse_writer *writer, const struct hole *hole,
                                  uint64_t unit, struct budget *budget)
{
    uint64_t page = unit * PAGES_OF_UNIT, last = page + PAGES_OF_UNIT - 1;
    enum store_result result = clear_range(writer, hole, SPARSE_UNIT, unit);

    budget_spend(budget, 1);
    for (; !result; page++) {
        result = sparse_next_number(writer->view, SPARSE_PAGE, page, last, &page);
        if (!result)
            result = clear_range(writer, hole, SPARSE_PAGE, page);
        budget_spend(budget, 1);
    }
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

/* Clears units one at a time. backlog->from: unit to continue with, be */
static enum store_result clear_units(const struct sparse_writer *writer, const struct hole *hole,
                                     struct backlog *backlog, struct budget *budget)
{
    struct arena *arena = writer->view->arena;
    struct arena_mark empty = arena_mark(arena);
    uint64_t unit = hole->start / UNIT_BYTES, last = (hole->end - 1) / UNIT_BYTES;
    enum store_result result;

    if (backlog->from.len == 8)
        unit = be64_get(backlog->from.ptr);
    for (;; unit++) {
        result = sparse_next_unit(writer->view, unit, &unit);
        if (!result && unit > last)
            result = STORE_NOT_FOUND;
        if (result || budget_is_spent(budget))
            break;
        result = cut_unit(writer, hole, unit, budget);
        if (result)
            return result;
        arena_rewind(arena, empty);
    }
    if (!result) {
        char *from = arena_bytes(changes_arena(writer->changes), 8);

        be64_put(from, unit);
        backlog->from = bytes_of(from, 8);
    }
    return result;
}

/* Processes a hole. content: the view's content, with the hole's epoch. Rewinds the view's arena
 * after each unit. */
static enum store_result collect_hole(const struct sparse_view *view, struct content *content,
                                      struct changes *changes, struct backlog *backlog,
                                      struct budget *budget)
{
    struct sparse_writer writer = { .view = view, .changes = changes, .id = backlog->id };
    uint64_t stamp = be64_get(backlog->prefix.ptr);
    struct hole holes[HOLES_MAX];
    struct neighbours around;
    enum store_result result;
    size_t count, at = 0;

    result = sparse_read_holes(view->before, view->arena, backlog->id, holes, &count);
    if (result)
        return result;
    while (at < count && holes[at].stamp != stamp)
        at++;
    if (at == count)
        return STORE_NOT_FOUND; /* a larger hole has replaced it, or the content was deleted */
    content->epoch = writer.epoch = holes[at].epoch;
    result = sparse_neighbours(view->before, backlog->id, holes[at].epoch, &around);
    if (result)
        return result;
    writer.has_older = around.has_older;
    writer.older = around.older;
    writer.joins_after = UINT64_MAX; /* join nothing: parts keep their stamps */
    result = clear_units(&writer, &holes[at], backlog, budget);
    if (result != STORE_NOT_FOUND)
        return result;
    memmove(&holes[at], &holes[at + 1], (count - at - 1) * sizeof holes[0]);
    sparse_put_holes(changes, backlog->id, holes, count - 1);
    return STORE_NOT_FOUND;
}

enum store_result sparse_collect_hole(struct read_view *before, struct changes *changes,
                                      struct backlog *backlog, struct budget *budget)
{
    struct content content = { .id = backlog->id, .form = CONTENT_SPARSE, .has_units = true };
    struct arena *arena = arena_new(UNIT_ARENA_MAX);
    const struct sparse_view view = { .before = before, .arena = arena, .content = &content };
    enum store_result result = collect_hole(&view, &content, changes, backlog, budget);

    arena_free(arena);
    return result;
}
