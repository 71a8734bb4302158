/* Reads sparse content in one of its generations. */
#include <assert.h>

#include "base/endian.h"
#include "content/sparse.h"

/* Maximum number of pages read with individual gets; more are read with a scan */
#define PAGES_GOT_MAX  4u
/* Length of the key prefix that 256 pages share. A scan limited to this prefix does not read the
 * tombstones of later pages, of which large writes over small ones leave many. */
#define SCANNED_PREFIX (SPARSE_NUMBER_END - 1)

/* ---- parts ---- */

static void grow(struct parts *parts)
{
    size_t capacity = parts->capacity > 0 ? 2 * parts->capacity : 8;
    struct part *grown;

    if (parts->count < parts->capacity)
        return;
    grown = arena_array(parts->arena, capacity, sizeof grown[0]);
    if (parts->count > 0)
        memcpy(grown, parts->items, parts->count * sizeof grown[0]);
    parts->items = grown;
    parts->capacity = capacity;
}

static void insert_at(struct parts *parts, size_t index, const struct part *part)
{
    grow(parts);
    memmove(parts->items + index + 1, parts->items + index,
            (parts->count - index) * sizeof parts->items[0]);
    parts->items[index] = *part;
    parts->count++;
}

void parts_append(struct parts *parts, const struct part *part)
{
    assert(parts->count == 0 || parts->items[parts->count - 1].end <= part->start);
    insert_at(parts, parts->count, part);
}

/* Returns the part without its first bytes. */
static struct part part_from(struct part part, uint64_t start)
{
    assert(start > part.start && start < part.end);
    if (part.bytes)
        part.bytes += start - part.start;
    part.piece_offset += (uint32_t)(part.piece ? start - part.start : 0);
    part.start = start;
    return part;
}

void parts_clear(struct parts *parts, uint64_t start, uint64_t end)
{
    size_t kept = 0;

    for (size_t i = 0; i < parts->count; i++) {
        struct part part = parts->items[i];

        if (part.start < start && part.end > end) { /* split in two */
            struct part rest = part_from(part, end);

            assert(kept == i);
            parts->items[i].end = start;
            insert_at(parts, i + 1, &rest);
            return;
        }
        if (part.start >= start && part.end <= end)
            continue;
        if (part.start < start && part.end > start)
            part.end = start;
        else if (part.start >= start && part.start < end)
            part = part_from(part, end);
        parts->items[kept++] = part;
    }
    parts->count = kept;
}

void parts_insert(struct parts *parts, const struct part *part)
{
    size_t index = 0;

    /* The usual case. Without this, each sector of a unit of single sectors would require a
     * search. */
    if (parts->count == 0 || parts->items[parts->count - 1].end <= part->start) {
        insert_at(parts, parts->count, part);
        return;
    }
    parts_clear(parts, part->start, part->end);
    while (index < parts->count && parts->items[index].start < part->start)
        index++;
    insert_at(parts, index, part);
}

/* ---- the view ---- */

enum store_result sparse_view_open(struct read_view *before, struct arena *arena,
                                   const struct content *content, struct sparse_view *ret_view)
{
    struct hole *holes = ret_view->holes;
    enum store_result result = STORE_OK;
    size_t count = 0;

    assert(content->form == CONTENT_SPARSE);
    ret_view->before = before;
    ret_view->arena = arena;
    ret_view->content = content;
    ret_view->hole_count = 0;
    if (content->has_holes)
        result = sparse_read_holes(before, arena, content->id, holes, &count);
    for (size_t i = 0; !result && i < count; i++)
        if (holes[i].epoch <= content->epoch)
            holes[ret_view->hole_count++] = holes[i];
    return result;
}

void sparse_remove_hole(const struct hole *hole, struct parts *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        const struct part *part = &parts->items[i];
        uint64_t start = part->start > hole->start ? part->start : hole->start;
        uint64_t end = part->end < hole->end ? part->end : hole->end;

        if (part->stamp >= hole->stamp || start >= end)
            continue;
        parts_clear(parts, start, end);
        i = SIZE_MAX; /* restart, because indexes have changed */
    }
}

void sparse_remove_holes(const struct sparse_view *view, struct parts *parts)
{
    for (size_t i = 0; i < view->hole_count; i++)
        sparse_remove_hole(&view->holes[i], parts);
}

/* Finds the newest version whose epoch is at most the view's. */
static enum store_result find_version(const struct sparse_view *view, enum sparse_kind kind,
                                      uint64_t number, struct record *ret_record)
{
    char buffer[SPARSE_KEY_SIZE];
    struct bytes key = sparse_key(view->content->id, kind, number, view->content->epoch, buffer);
    enum store_result result;
    struct scan *scan;

    if (view->content->epoch == 0)
        return read_view_get(view->before, RECORD_INNER, key, view->arena, ret_record);
    scan = scan_open(view->before, RECORD_INNER, bytes_of(buffer, SPARSE_NUMBER_END), key);
    result = scan_next(scan, view->arena, ret_record);
    scan_close(scan);
    return result;
}

enum store_result sparse_version(const struct sparse_view *view, enum sparse_kind kind,
                                 uint64_t number, struct version *ret_version)
{
    enum store_result result;
    struct record record;

    *ret_version = (struct version){ .parts = { .arena = view->arena } };
    if (kind == SPARSE_UNIT && !view->content->has_units)
        return STORE_OK;
    result = find_version(view, kind, number, &record);
    if (result)
        return result == STORE_NOT_FOUND ? STORE_OK : result;
    if (!sparse_decode(&record, view->arena, ret_version))
        return content_damaged(view->content->id, number, "corrupt page or unit");
    return STORE_OK;
}

/* ---- a unit ---- */

/* Adds the bytes of one page in the view. */
static enum store_result add_page(const struct sparse_view *view, uint64_t page,
                                  struct parts *parts)
{
    struct version version;
    enum store_result result = sparse_version(view, SPARSE_PAGE, page, &version);

    for (size_t i = 0; !result && i < version.parts.count; i++)
        parts_insert(parts, &version.parts.items[i]);
    return result;
}

/* Adds the bytes of the pages first..end of a unit in the view. Skips a few versions of a page one
 * by one, and many by opening a new scan. */
static enum store_result scan_pages(const struct sparse_view *view, uint64_t first, uint64_t end,
                                    struct parts *parts)
{
    const uint64_t id = view->content->id;
    uint64_t next = first; /* next page to read */
    enum store_result result = STORE_OK;

    while (!result && next < end) {
        char buffer[SPARSE_KEY_SIZE];
        struct bytes from = sparse_key(id, SPARSE_PAGE, next, view->content->epoch, buffer);
        struct scan *scan =
            scan_open(view->before, RECORD_INNER, bytes_of(buffer, SCANNED_PREFIX), from);

        for (int passed = 0; passed < 8;) {
            struct version version;
            struct record record;
            uint64_t page;

            result = scan_next(scan, view->arena, &record);
            if (result)
                break;
            if (!sparse_decode(&record, view->arena, &version)) {
                result = content_damaged(id, next, "page");
                break;
            }
            page = be64_get(record.key.ptr + SPARSE_PREFIX);
            if (page >= end) {
                result = STORE_NOT_FOUND;
                break;
            }
            if (page < next || version.epoch > view->content->epoch) {
                next = page > next ? page : next;
                passed++;
                continue;
            }
            for (size_t i = 0; i < version.parts.count; i++)
                parts_insert(parts, &version.parts.items[i]);
            next = page + 1;
        }
        scan_close(scan);
    }
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

static enum store_result add_pages(const struct sparse_view *view, uint64_t first, uint64_t end,
                                   struct parts *parts)
{
    uint64_t last = (view->content->length + PAGE_BYTES - 1) / PAGE_BYTES;
    enum store_result result = STORE_OK;

    if (view->content->without_pages)
        return STORE_OK;
    end = end < last ? end : last;
    if (end > first + PAGES_GOT_MAX)
        return scan_pages(view, first, end, parts);
    for (uint64_t page = first; !result && page < end; page++)
        result = add_page(view, page, parts);
    return result;
}

enum store_result sparse_unit_part(const struct sparse_view *view, uint64_t unit, uint64_t start,
                                   uint64_t end, struct parts *ret_parts)
{
    uint64_t unit_start = unit * UNIT_BYTES, unit_end = unit_start + UNIT_BYTES;
    struct version version;
    enum store_result result = sparse_version(view, SPARSE_UNIT, unit, &version);

    assert(start % PAGE_BYTES == 0 && end % PAGE_BYTES == 0);
    assert(unit_start <= start && start < end && end <= unit_end);
    if (!result)
        result = add_pages(view, start / PAGE_BYTES, end / PAGE_BYTES, &version.parts);
    if (result)
        return result;
    sparse_remove_holes(view, &version.parts);
    if (start > unit_start)
        parts_clear(&version.parts, unit_start, start);
    if (end < unit_end)
        parts_clear(&version.parts, end, unit_end);
    *ret_parts = version.parts;
    return STORE_OK;
}

enum store_result sparse_unit(const struct sparse_view *view, uint64_t unit,
                              struct parts *ret_parts)
{
    return sparse_unit_part(view, unit, unit * UNIT_BYTES, (unit + 1) * UNIT_BYTES, ret_parts);
}

enum store_result sparse_next_number(const struct sparse_view *view, enum sparse_kind kind,
                                     uint64_t number, uint64_t last, uint64_t *ret_number)
{
    char buffer[SPARSE_KEY_SIZE];
    struct bytes from = sparse_key(view->content->id, kind, number, UINT32_MAX, buffer);
    enum store_result result;
    struct record record;
    struct scan *scan =
        scan_open(view->before, RECORD_INNER, bytes_of(buffer, SPARSE_PREFIX), from);

    result = scan_next(scan, NULL, &record);
    if (!result && record.key.len != SPARSE_KEY_SIZE)
        result = content_damaged(view->content->id, number, "invalid page or unit key");
    if (!result)
        *ret_number = be64_get(record.key.ptr + SPARSE_PREFIX);
    scan_close(scan);
    return !result && *ret_number > last ? STORE_NOT_FOUND : result;
}

enum store_result sparse_next_unit(const struct sparse_view *view, uint64_t unit,
                                   uint64_t *ret_unit)
{
    uint64_t page = 0, other = 0;
    enum store_result pages = STORE_NOT_FOUND, units = STORE_NOT_FOUND;

    if (!view->content->without_pages)
        pages = sparse_next_number(view, SPARSE_PAGE, unit * PAGES_OF_UNIT, UINT64_MAX, &page);
    if (pages && pages != STORE_NOT_FOUND)
        return pages;
    if (view->content->has_units)
        units = sparse_next_number(view, SPARSE_UNIT, unit, UINT64_MAX, &other);
    if (units && units != STORE_NOT_FOUND)
        return units;
    if (pages && units)
        return STORE_NOT_FOUND;
    page /= PAGES_OF_UNIT;
    *ret_unit = units || (!pages && page < other) ? page : other;
    return STORE_OK;
}
