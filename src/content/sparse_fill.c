/* Writes many ranges of sparse content in one change. Reads and writes each unit only once,
 * regardless of the number of ranges in it. By contrast, content_write() and content_clear() write
 * one range and may be called only once per list of changes. */
#include "content/sparse.h"
#include "content/sparse_write.h"

#include <assert.h>

/* Arena for one unit; rewound after each, because a change may cover thousands of units. */
#define UNIT_ARENA_MAX ((size_t)64 << 20)

struct filling {
    const struct sparse_writer *writer;
    const struct content_range *ranges;
    size_t range_count;
    /* Position in the body. */
    const struct body *body;
    size_t piece;
    uint32_t piece_offset;
    uint64_t taken;
};

/* ---- the bytes of a unit ---- */

/* Assigns the next bytes of the body to a range. */
static void take(struct filling *f, uint64_t start, uint64_t end, struct parts *parts)
{
    while (start < end) {
        struct part part = { .start = start, .end = end, .stamp = f->writer->stamp };

        if (f->body->piece_count == 0) {
            part.bytes = f->body->inline_bytes.ptr + f->taken;
        } else {
            const struct piece *piece = &f->body->pieces[f->piece];
            uint32_t left = piece->length - f->piece_offset;

            assert(f->piece < f->body->piece_count && f->piece_offset < piece->length);
            part.piece = piece;
            part.piece_offset = f->piece_offset;
            if (end - start >= left) {
                part.end = start + left;
                f->piece++;
                f->piece_offset = 0;
            } else {
                f->piece_offset += (uint32_t)(end - start);
            }
        }
        parts_append(parts, &part);
        assert(part.end > part.start && f->taken < f->body->length);
        f->taken += part.end - part.start;
        start = part.end;
    }
}

/* The ranges that overlap a unit, and the bytes to write there */
struct unit_change {
    const struct content_range *ranges;
    size_t range_count;
    struct parts written;
};

static struct unit_change change_of(struct filling *f, uint64_t unit)
{
    uint64_t start = unit * UNIT_BYTES, end = start + UNIT_BYTES;
    struct unit_change change = { .ranges = f->ranges,
                                  .written = { .arena = f->writer->view->arena } };

    while (change.range_count < f->range_count && f->ranges[change.range_count].start < end) {
        const struct content_range *range = &f->ranges[change.range_count++];

        if (!range->is_hole)
            take(f, range->start > start ? range->start : start,
                 range->end < end ? range->end : end, &change.written);
    }
    return change;
}

/* ---- the records of a unit ---- */

static bool overlaps(const struct parts *parts, const struct content_range *range)
{
    for (size_t i = 0; i < parts->count; i++)
        if (parts->items[i].start < range->end && parts->items[i].end > range->start)
            return true;
    return false;
}

/* Inserts the bytes to be written between start and end into `parts`. Returns false if there are
 * none. */
static bool insert(const struct unit_change *change, uint64_t start, uint64_t end,
                   struct parts *parts)
{
    bool any = false;

    for (size_t i = 0; i < change->written.count; i++) {
        struct part part = change->written.items[i];

        if (part.end <= start || part.start >= end)
            continue;
        if (part.start < start) {
            part.bytes += part.bytes ? start - part.start : 0;
            part.start = start;
        }
        part.end = part.end < end ? part.end : end;
        parts_insert(parts, &part);
        any = true;
    }
    return any;
}

/* Rewrites one page or unit: removes the old bytes of the ranges and adds the new ones. */
static enum store_result rewrite(const struct filling *f, const struct unit_change *change,
                                 enum sparse_kind kind, uint64_t number)
{
    uint64_t size = kind == SPARSE_UNIT ? UNIT_BYTES : PAGE_BYTES;
    bool is_written = (kind == SPARSE_UNIT) == (f->body->piece_count > 0), changes = false;
    struct version version;
    struct parts parts;
    enum store_result result = sparse_version(f->writer->view, kind, number, &version);

    if (result)
        return result;
    parts = parts_copy(&version.parts);
    sparse_remove_holes(f->writer->view, &parts);
    for (size_t i = 0; i < change->range_count; i++) {
        if (!overlaps(&version.parts, &change->ranges[i]))
            continue;
        parts_clear(&parts, change->ranges[i].start, change->ranges[i].end);
        changes = true;
    }
    if (is_written && insert(change, number * size, (number + 1) * size, &parts))
        changes = true;
    if (changes)
        sparse_replace(f->writer, kind, number, &version, &parts);
    return STORE_OK;
}

/* Returns the first page, from `page` on, whose bytes are written inline. */
static uint64_t next_written(const struct filling *f, const struct unit_change *change,
                             uint64_t page)
{
    for (size_t i = 0; i < change->written.count && f->body->piece_count == 0; i++) {
        uint64_t first = change->written.items[i].start / PAGE_BYTES;
        uint64_t last = (change->written.items[i].end - 1) / PAGE_BYTES;

        if (last >= page)
            return first > page ? first : page;
    }
    return UINT64_MAX;
}

/* Rewrites the pages of a unit that have a record or will have one. */
static enum store_result rewrite_pages(const struct filling *f, const struct unit_change *change,
                                       uint64_t unit)
{
    uint64_t page = unit * PAGES_OF_UNIT, last = page + PAGES_OF_UNIT - 1;
    uint64_t found = 0; /* next page with a record, if it is at least `page` */
    bool known = false;
    enum store_result result = STORE_OK;

    while (!result) {
        uint64_t written = next_written(f, change, page);

        if (f->writer->view->content->without_pages)
            result = STORE_NOT_FOUND;
        else if (!known || found < page)
            result = sparse_next_number(f->writer->view, SPARSE_PAGE, page, last, &found);
        if (result == STORE_NOT_FOUND)
            found = UINT64_MAX;
        else if (result)
            return result;
        known = true;
        page = written < found ? written : found;
        if (page > last)
            return STORE_OK;
        result = rewrite(f, change, SPARSE_PAGE, page++);
    }
    return result;
}

static enum store_result write_unit(struct filling *f, uint64_t unit)
{
    struct unit_change change = change_of(f, unit);
    enum store_result result = rewrite(f, &change, SPARSE_UNIT, unit);

    return result ? result : rewrite_pages(f, &change, unit);
}

/* ---- all units ---- */

/* Skips units of a hole that have no records. Sets *unit to the next one that has, or to the hole's
 * end. */
static enum store_result skip_empty(const struct filling *f, uint64_t *unit)
{
    uint64_t behind = f->ranges[0].end / UNIT_BYTES, next = 0;
    enum store_result result = sparse_next_unit(f->writer->view, *unit, &next);

    if (result && result != STORE_NOT_FOUND)
        return result;
    *unit = result || next > behind ? behind : next;
    return STORE_OK;
}

static enum store_result write_all(struct filling *f)
{
    struct arena *arena = f->writer->view->arena;
    struct arena_mark empty = arena_mark(arena);
    uint64_t unit = 0;

    while (f->range_count > 0) {
        const struct content_range *range = &f->ranges[0];
        enum store_result result;

        if (range->end <= unit * UNIT_BYTES) {
            f->ranges++;
            f->range_count--;
            continue;
        }
        if (unit < range->start / UNIT_BYTES)
            unit = range->start / UNIT_BYTES;
        if (range->is_hole && range->start <= unit * UNIT_BYTES &&
            range->end >= (unit + 1) * UNIT_BYTES) {
            uint64_t from = unit;

            result = skip_empty(f, &unit);
            if (result)
                return result;
            if (unit != from)
                continue;
        }
        result = write_unit(f, unit++);
        if (result)
            return result;
        arena_rewind(arena, empty);
    }
    return STORE_OK;
}

static enum store_result fill(struct filling *f, struct read_view *before, struct changes *changes,
                              struct arena *arena, const struct content *content, uint64_t stamp)
{
    struct sparse_writer writer;
    struct sparse_view view;
    enum store_result result = sparse_view_open(before, arena, content, &view);

    if (!result)
        result = sparse_writer_open(&view, changes, stamp, &writer);
    if (result)
        return result;
    f->writer = &writer;
    return write_all(f);
}

enum store_result content_write_ranges(struct read_view *before, struct changes *changes,
                                       struct content *content, uint64_t stamp,
                                       const struct body *body, const struct content_range *ranges,
                                       size_t count)
{
    struct filling f = { .ranges = ranges, .range_count = count, .body = body };
    enum store_result result;
    struct arena *arena;

    assert(count == 0 || ranges[count - 1].end <= content->length);
    arena = arena_new(UNIT_ARENA_MAX);
    result = fill(&f, before, changes, arena, content, stamp);
    arena_free(arena);
    if (result)
        return result;
    assert(f.taken == body->length);
    content->stamp = stamp;
    sparse_note_kind(content, body);
    return STORE_OK;
}

/* Clears a range of sparse content: frees complete units, and writes zeros to the rest. */

/* In a range longer than this, the complete units are cleared as one large hole, and the partial
 * units at its ends separately. No record belongs to both. */
#define ZEROED_AT_ONCE (16u * UNIT_BYTES)
#define ZEROS_MAX      (2u * PAGE_BYTES)

/* Up to four ranges: zeros and a hole at the start, and a hole and zeros at the end. */
struct pieces {
    struct content_range ranges[4];
    size_t count;
    uint64_t zeros;
};

static void add(struct pieces *pieces, uint64_t start, uint64_t end, bool is_hole)
{
    if (start >= end)
        return;
    assert(pieces->count < sizeof pieces->ranges / sizeof pieces->ranges[0]);
    pieces->ranges[pieces->count++] =
        (struct content_range){ .start = start, .end = end, .is_hole = is_hole };
    pieces->zeros += is_hole ? 0 : end - start;
}

static enum store_result write_zeros(struct read_view *before, struct changes *changes,
                                     struct content *content, uint64_t stamp,
                                     const struct pieces *pieces)
{
    static const char zeros[ZEROS_MAX];
    struct body body = { .length = pieces->zeros,
                         .inline_bytes = bytes_of(zeros, (size_t)pieces->zeros) };

    assert(pieces->zeros <= sizeof zeros);
    return content_write_ranges(before, changes, content, stamp, &body, pieces->ranges,
                                pieces->count);
}

static uint64_t round_up(uint64_t at, uint64_t unit)
{
    return (at + unit - 1) / unit * unit;
}

enum store_result content_zero(struct read_view *before, struct changes *changes,
                               struct arena *arena, struct content *content, uint64_t stamp,
                               uint64_t offset, uint64_t length, uint32_t unit, bool *ret_more)
{
    uint64_t end = offset + length, hole = round_up(offset, unit), hole_end = end / unit * unit;
    uint64_t middle = round_up(hole, UNIT_BYTES), middle_end;
    struct content edges = *content;
    struct pieces pieces = { .count = 0 };
    enum store_result result;

    assert(length > 0 && offset <= content->length && length <= content->length - offset);
    assert(unit > 0 && PAGE_BYTES % unit == 0);
    if (end == content->length)
        hole_end = end; /* no bytes follow the end of the content */
    if (hole >= hole_end) {
        add(&pieces, offset, end, false);
        return write_zeros(before, changes, content, stamp, &pieces);
    }
    middle_end = hole_end / UNIT_BYTES * UNIT_BYTES;
    add(&pieces, offset, hole, false);
    if (middle_end < middle || middle_end - middle <= ZEROED_AT_ONCE) {
        add(&pieces, hole, hole_end, true);
        add(&pieces, hole_end, end, false);
        return write_zeros(before, changes, content, stamp, &pieces);
    }
    add(&pieces, hole, middle, true);
    add(&pieces, middle_end, hole_end, true);
    add(&pieces, hole_end, end, false);
    result = write_zeros(before, changes, &edges, stamp, &pieces);
    if (!result)
        result = content_clear(before, changes, arena, content, stamp, middle, middle_end - middle,
                               ret_more);
    if (!result)
        content->without_pages = edges.without_pages;
    return result;
}
