/* Changes sparse content: writes, clears and resizes it. */
#include <assert.h>

#include "base/log.h"
#include "content/sparse_write.h"

/* Maximum size of a range whose records are cleared in the commit itself */
#define CLEARED_AT_ONCE (16u * UNIT_BYTES)

struct content content_sparse(uint64_t id, uint64_t length)
{
    assert(id > 0 && length <= INT64_MAX);
    return (struct content){
        .id = id, .length = length, .form = CONTENT_SPARSE, .without_pages = true, .stamp = id
    };
}

/* ---- versions ---- */

struct parts parts_copy(const struct parts *parts)
{
    struct parts copy = { .arena = parts->arena };

    for (size_t i = 0; i < parts->count; i++)
        parts_append(&copy, &parts->items[i]);
    assert(copy.count == parts->count);
    return copy;
}

static uint64_t unit_of(enum sparse_kind kind, uint64_t number)
{
    return kind == SPARSE_UNIT ? number : number / PAGES_OF_UNIT;
}

void sparse_replace(const struct sparse_writer *writer, enum sparse_kind kind, uint64_t number,
                    const struct version *old, const struct parts *parts)
{
    bool is_seen = old->found && writer->has_older && old->epoch <= writer->older;
    /* the new version may have to hide versions of older epochs */
    bool hides = parts->count > 0 || writer->epoch > 0;
    char buffer[SPARSE_KEY_SIZE];

    if (old->found && !is_seen) {
        sparse_release(writer->changes, old);
        if (old->epoch != writer->epoch || !hides)
            changes_delete(writer->changes, RECORD_INNER,
                           sparse_key(writer->id, kind, number, old->epoch, buffer));
    }
    if (hides)
        sparse_put(writer->changes, writer->id, kind, number, writer->epoch, writer->joins_after,
                   parts);
    if (writer->has_older && !(old->found && old->epoch == writer->epoch))
        sparse_mark_changed(writer->changes, writer->id, writer->epoch, unit_of(kind, number));
}

/* Removes the range from a page or unit, if that has bytes there. */
static enum store_result clear_range(const struct sparse_writer *writer, enum sparse_kind kind,
                                     uint64_t number, uint64_t start, uint64_t end)
{
    struct version version;
    struct parts parts;
    enum store_result result = sparse_version(writer->view, kind, number, &version);
    bool overlaps = false;

    if (result || !version.found)
        return result;
    for (size_t i = 0; i < version.parts.count; i++)
        overlaps =
            overlaps || (version.parts.items[i].start < end && version.parts.items[i].end > start);
    if (!overlaps)
        return STORE_OK;
    parts = parts_copy(&version.parts);
    sparse_remove_holes(writer->view, &parts);
    parts_clear(&parts, start, end);
    sparse_replace(writer, kind, number, &version, &parts);
    return STORE_OK;
}

/* Removes the range, which is within one unit, from the unit's pages. */
static enum store_result clear_pages(const struct sparse_writer *writer, uint64_t start,
                                     uint64_t end)
{
    uint64_t page = start / PAGE_BYTES, last = (end - 1) / PAGE_BYTES;

    if (writer->view->content->without_pages)
        return STORE_OK;
    for (;; page++) {
        enum store_result result = sparse_next_number(writer->view, SPARSE_PAGE, page, last, &page);

        if (!result)
            result = clear_range(writer, SPARSE_PAGE, page, start, end);
        if (result)
            return result == STORE_NOT_FOUND ? STORE_OK : result;
    }
}

/* ---- writing ---- */

/* Returns true if the old record need not be read, because the write covers the entire page. A
 * page's record contains its bytes, so it has no pieces to release, and the new record overwrites
 * it or, in later epochs, is added next to it. */
static bool is_blind(const struct sparse_writer *writer, const struct part *part)
{
    assert(writer->epoch > 0 || !writer->has_older);
    return writer->epoch == 0 && part->end - part->start == PAGE_BYTES;
}

static enum store_result write_page(const struct sparse_writer *writer, uint64_t page,
                                    const struct part *part)
{
    struct version version = { .parts = { .arena = writer->view->arena } };
    struct parts parts;
    enum store_result result = STORE_OK;

    if (!is_blind(writer, part))
        result = sparse_version(writer->view, SPARSE_PAGE, page, &version);
    if (result)
        return result;
    parts = parts_copy(&version.parts);
    sparse_remove_holes(writer->view, &parts);
    parts_insert(&parts, part);
    sparse_replace(writer, SPARSE_PAGE, page, &version, &parts);
    return STORE_OK;
}

static enum store_result write_inline(const struct sparse_writer *writer, uint64_t offset,
                                      struct bytes data)
{
    uint64_t at = offset, end = offset + data.len;

    for (uint64_t unit = at / UNIT_BYTES; unit <= (end - 1) / UNIT_BYTES; unit++) {
        enum store_result result = clear_range(writer, SPARSE_UNIT, unit, offset, end);

        if (result)
            return result;
    }
    while (at < end) {
        uint64_t page = at / PAGE_BYTES, page_end = (page + 1) * PAGE_BYTES;
        struct part part = { .start = at, .stamp = writer->stamp };
        enum store_result result;

        part.end = end < page_end ? end : page_end;
        part.bytes = data.ptr + (at - offset);
        result = write_page(writer, page, &part);
        if (result)
            return result;
        at = part.end;
    }
    return STORE_OK;
}

/* Inserts those parts of the body's pieces that are in the unit. offset: offset of the first piece
 * in the content */
static void insert_pieces(const struct sparse_writer *writer, uint64_t unit, uint64_t offset,
                          const struct body *body, struct parts *parts)
{
    uint64_t unit_start = unit * UNIT_BYTES, unit_end = unit_start + UNIT_BYTES;

    for (size_t i = 0; i < body->piece_count && offset < unit_end; i++) {
        const struct piece *piece = &body->pieces[i];
        uint64_t end = offset + piece->length;
        struct part part = { .start = offset, .end = end, .stamp = writer->stamp, .piece = piece };

        if (end > unit_start) {
            if (part.start < unit_start) {
                part.piece_offset = (uint32_t)(unit_start - part.start);
                part.start = unit_start;
            }
            part.end = part.end < unit_end ? part.end : unit_end;
            assert(part.start < part.end && part.piece_offset < piece->length);
            parts_insert(parts, &part);
        }
        offset = end;
    }
}

static enum store_result write_pieces(const struct sparse_writer *writer, uint64_t offset,
                                      const struct body *body)
{
    uint64_t end = offset + body->length;

    for (uint64_t unit = offset / UNIT_BYTES; unit <= (end - 1) / UNIT_BYTES; unit++) {
        uint64_t unit_start = unit * UNIT_BYTES, unit_end = unit_start + UNIT_BYTES;
        uint64_t from = offset > unit_start ? offset : unit_start;
        struct version version;
        struct parts parts;
        enum store_result result = clear_pages(writer, from, end < unit_end ? end : unit_end);

        if (!result)
            result = sparse_version(writer->view, SPARSE_UNIT, unit, &version);
        if (result)
            return result;
        parts = parts_copy(&version.parts);
        sparse_remove_holes(writer->view, &parts);
        insert_pieces(writer, unit, offset, body, &parts);
        sparse_replace(writer, SPARSE_UNIT, unit, &version, &parts);
    }
    return STORE_OK;
}

enum store_result sparse_writer_open(const struct sparse_view *view, struct changes *changes,
                                     uint64_t stamp, struct sparse_writer *ret_writer)
{
    const struct content *content = view->content;

    /* The stamp is the current time, which is later than all commits of the partition. If the
     * record has a later one, it is corrupt. */
    if (stamp <= content->stamp && stamp != content->id) {
        log_line(LOG_ERROR, "content: the last change is in the future");
        return STORE_CORRUPT;
    }
    *ret_writer = (struct sparse_writer){
        .view = view,
        .changes = changes,
        .id = content->id,
        .stamp = stamp,
        .epoch = content->epoch,
        .joins_after = content->sealed_at,
        .has_older = content->last_retained > 0,
        .older = content->last_retained > 0 ? content->last_retained - 1 : 0,
    };
    return STORE_OK;
}

void sparse_note_kind(struct content *content, const struct body *body)
{
    if (body->piece_count > 0)
        content->has_units = true;
    else if (body->length > 0)
        content->without_pages = false;
}

enum store_result content_write(struct read_view *before, struct changes *changes,
                                struct arena *arena, struct content *content, uint64_t stamp,
                                uint64_t offset, const struct body *body)
{
    struct sparse_writer writer;
    struct sparse_view view;
    enum store_result result;

    assert(body->length > 0 && offset <= INT64_MAX - body->length);
    result = sparse_view_open(before, arena, content, &view);
    if (!result)
        result = sparse_writer_open(&view, changes, stamp, &writer);
    if (result)
        return result;
    result = body->piece_count > 0 ? write_pieces(&writer, offset, body)
                                   : write_inline(&writer, offset, body->inline_bytes);
    if (result)
        return result;
    content->stamp = stamp;
    sparse_note_kind(content, body);
    if (content->length < offset + body->length)
        content->length = offset + body->length;
    assert(content_is_valid(content));
    return STORE_OK;
}

/* ---- clearing ---- */

static enum store_result clear_now(const struct sparse_writer *writer, uint64_t start, uint64_t end)
{
    for (uint64_t unit = start / UNIT_BYTES; unit <= (end - 1) / UNIT_BYTES; unit++) {
        uint64_t unit_start = unit * UNIT_BYTES, unit_end = unit_start + UNIT_BYTES;
        uint64_t from = start > unit_start ? start : unit_start;
        uint64_t to = end < unit_end ? end : unit_end;
        enum store_result result = clear_range(writer, SPARSE_UNIT, unit, from, to);

        if (!result)
            result = clear_pages(writer, from, to);
        if (result)
            return result;
    }
    return STORE_OK;
}

/* Adds a large hole, whose data is deleted later. It replaces smaller holes of its epoch. */
static enum store_result add_hole(const struct sparse_writer *writer, uint64_t start, uint64_t end)
{
    const struct sparse_view *view = writer->view;
    struct hole holes[HOLES_MAX + 1];
    size_t count = 0;

    for (size_t i = 0; i < view->hole_count; i++) {
        const struct hole *hole = &view->holes[i];

        if (hole->epoch != writer->epoch || hole->start < start || hole->end > end)
            holes[count++] = *hole;
    }
    if (count == HOLES_MAX)
        return STORE_SHORTAGE;
    assert(count < HOLES_MAX);
    holes[count++] = (struct hole){ start, end, writer->stamp, writer->epoch };
    sparse_put_holes(writer->changes, writer->id, holes, count);
    backlog_add_hole(writer->changes, writer->id, writer->stamp);
    return STORE_OK;
}

enum store_result content_clear(struct read_view *before, struct changes *changes,
                                struct arena *arena, struct content *content, uint64_t stamp,
                                uint64_t offset, uint64_t length, bool *ret_more)
{
    struct sparse_writer writer;
    struct sparse_view view;
    enum store_result result;

    assert(length > 0 && offset <= content->length && length <= content->length - offset);
    result = sparse_view_open(before, arena, content, &view);
    if (!result)
        result = sparse_writer_open(&view, changes, stamp, &writer);
    if (result)
        return result;
    if (length <= CLEARED_AT_ONCE) {
        result = clear_now(&writer, offset, offset + length);
    } else {
        result = add_hole(&writer, offset, offset + length);
        content->has_holes = true;
        *ret_more = true;
    }
    if (!result)
        content->stamp = stamp;
    return result;
}

enum store_result content_resize(struct read_view *before, struct changes *changes,
                                 struct arena *arena, struct content *content, uint64_t stamp,
                                 uint64_t length, bool *ret_more)
{
    enum store_result result = STORE_OK;

    assert(length <= INT64_MAX);
    if (length < content->length)
        result = content_clear(before, changes, arena, content, stamp, length,
                               content->length - length, ret_more);
    if (result)
        return result;
    content->stamp = stamp;
    content->length = length;
    assert(content_is_valid(content));
    return STORE_OK;
}
