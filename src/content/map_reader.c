/* Loads windows of content from its segments and from the segments of its runs. */
#include <assert.h>

#include "content/sparse.h"

/* Windows to read ahead: 256 MiB for blocks of 8 MiB */
#define WINDOWS_AHEAD       32u
/* Limits of a window of sparse content: the units that fit in FILE_RANGE_MAX, and slightly more
 * parts than one unit can have. */
#define SPARSE_WINDOW_UNITS (FILE_RANGE_MAX / UNIT_BYTES)
#define SPARSE_WINDOW_PARTS 512u

void map_reader_init(struct map_reader *reader, struct read_view *snapshot, struct arena *arena,
                     bool rewinds, const struct content *content)
{
    *reader = (struct map_reader){
        .snapshot = snapshot,
        .arena = arena,
        .rewinds = rewinds,
        .content = *content,
        .empty = arena_mark(arena),
    };
}

/* Asserts that the fragments fill the window without gaps. */
static void assert_window(const struct window *window)
{
    const struct fragment *fragments = window->fragments;

    assert(!window->count == (window->start == window->end));
    assert(window->count == 0 || (fragments[0].start == window->start &&
                                  fragments[window->count - 1].end == window->end));
}

/* ---- fragments of a segment ---- */

/* Creates fragments at `start` for the entries first..last, which must not be runs. */
static void window_of_entries(struct arena *arena, const struct entry *first,
                              const struct entry *last, uint64_t start, struct window *ret_window)
{
    struct window window = { .start = start, .end = start };
    size_t count = 0;

    for (const struct entry *entry = first; entry <= last; entry++)
        count += entry->kind == ENTRY_INLINE ? 1 : entry->piece_count;
    window.fragments = arena_array(arena, count, sizeof window.fragments[0]);
    for (const struct entry *entry = first; entry <= last; entry++) {
        size_t parts = entry->kind == ENTRY_INLINE ? 1 : entry->piece_count;

        for (size_t i = 0; i < parts; i++) {
            const struct piece *piece = entry->kind == ENTRY_INLINE ? NULL : &entry->pieces[i];
            uint64_t length = piece ? piece->length : entry->length;

            if (length == 0)
                continue;
            window.fragments[window.count++] = (struct fragment){
                .start = window.end,
                .end = window.end + length,
                .piece = piece,
                .bytes = piece ? NULL : entry->inline_bytes.ptr,
            };
            window.end += length;
        }
    }
    assert(window.count <= count);
    assert_window(&window);
    *ret_window = window;
}

/* Returns the pieces of a run as a window of the content, in which the run starts at
 * `run_start`. */
static enum store_result window_of_run(struct map_reader *reader, const struct entry *entry,
                                       uint64_t run_start, uint64_t offset,
                                       struct window *ret_window)
{
    struct segment_map run = segment_map_of_run(entry->run, entry->length);
    struct segment segment;
    enum store_result result =
        segment_at(reader->snapshot, reader->arena, &run, offset - run_start, &segment);

    if (result)
        return result;
    for (size_t i = 0; i < segment.entry_count; i++)
        if (segment.entries[i].kind == ENTRY_RUN)
            return content_damaged(entry->run, segment.end, "nested run");
    window_of_entries(reader->arena, &segment.entries[0], &segment.entries[segment.entry_count - 1],
                      run_start + segment.start, ret_window);
    return STORE_OK;
}

/* ---- loading ---- */

static enum store_result load_segment(struct map_reader *reader, uint64_t offset)
{
    struct segment_map map = segment_map_of(&reader->content);
    enum store_result result;

    if (offset >= reader->segment.start && offset < reader->segment.end)
        return STORE_OK;
    reader->segment.end = 0;
    if (reader->rewinds)
        arena_rewind(reader->arena, reader->empty);
    result = reader->content.is_appended
                 ? segments_at(reader->snapshot, reader->arena, &map, offset, &reader->segment)
                 : segment_at(reader->snapshot, reader->arena, &map, offset, &reader->segment);
    if (result)
        reader->segment.end = 0;
    reader->with_segment = arena_mark(reader->arena);
    return result;
}

/* Returns the window that contains the offset in the loaded segment: the run there, or the
 * consecutive non-run entries around it. */
static enum store_result load_window(struct map_reader *reader, uint64_t offset,
                                     struct window *ret_window)
{
    const struct segment *segment = &reader->segment;
    const struct entry *at = segment->entries, *end = at + segment->entry_count;
    const struct entry *first = at; /* first entry after the preceding run */
    uint64_t start = segment->start, first_start = start;

    while (at < end && offset >= start + at->length) {
        start += at->length;
        if (at++->kind == ENTRY_RUN) {
            first = at;
            first_start = start;
        }
    }
    assert(at < end);
    if (at->kind == ENTRY_RUN)
        return window_of_run(reader, at, start, offset, ret_window);
    while (at + 1 < end && at[1].kind != ENTRY_RUN)
        at++;
    window_of_entries(reader->arena, first, at, first_start, ret_window);
    return STORE_OK;
}

/* ---- sparse content ---- */

/* Returns true if the part continues the fragment in the same piece. Adjacent units may
 * refer to the same piece. */
static bool continues(const struct fragment *last, const struct part *part)
{
    const struct piece *piece = last->piece;

    return piece && part->piece && piece->extent == part->piece->extent &&
           piece->offset == part->piece->offset && last->end == part->start &&
           last->piece_offset + (last->end - last->start) == part->piece_offset;
}

static void add_fragment(struct window *window, uint64_t end, const struct part *part)
{
    struct fragment fragment = { .start = window->end, .end = end };

    if (fragment.start >= end)
        return;
    window->end = end;
    if (part && window->count > 0 && continues(&window->fragments[window->count - 1], part)) {
        window->fragments[window->count - 1].end = end;
        return;
    }
    if (part) {
        fragment.piece = part->piece;
        fragment.piece_offset = part->piece_offset;
        fragment.bytes = part->bytes;
    }
    window->fragments[window->count++] = fragment;
}

static bool lies_in_pieces(const struct parts *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        if (!parts->items[i].piece)
            return false;
    return parts->count > 0;
}

/* Reads the parts of pages from `start` on. Continues with the following units, up to `end`, while
 * all their data is in pieces, so that many units can be sent together. Sets *ret_end to the end of
 * the pages read. */
static enum store_result read_units(const struct sparse_view *view, uint64_t start, uint64_t end,
                                    struct parts *parts, uint64_t *ret_end)
{
    uint64_t unit = start / UNIT_BYTES, behind = unit + SPARSE_WINDOW_UNITS;
    struct parts of_unit;

    do {
        uint64_t unit_end = (unit + 1) * UNIT_BYTES, until = unit_end < end ? unit_end : end;
        enum store_result result = sparse_unit_part(view, unit, start, until, &of_unit);

        if (result)
            return result;
        for (size_t i = 0; i < of_unit.count; i++)
            parts_append(parts, &of_unit.items[i]);
        *ret_end = start = until;
    } while (++unit < behind && *ret_end < end && parts->count < SPARSE_WINDOW_PARTS &&
             lies_in_pieces(&of_unit));
    return STORE_OK;
}

/* Returns the window that starts with the page at the offset and ends at or before `until`; or the
 * hole that extends to the next unit with records. */
static enum store_result load_sparse(struct map_reader *reader, uint64_t offset, uint64_t until,
                                     struct window *ret_window)
{
    uint64_t start = offset / PAGE_BYTES * PAGE_BYTES, length = reader->content.length;
    uint64_t last = (until + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES, end = last, next;
    struct window window = { .start = start, .end = start };
    struct sparse_view view;
    struct parts parts = { .arena = reader->arena };
    enum store_result result =
        sparse_view_open(reader->snapshot, reader->arena, &reader->content, &view);

    if (!result)
        result = read_units(&view, start, last, &parts, &end);
    if (!result && parts.count == 0 && end < last) {
        result = sparse_next_unit(&view, end / UNIT_BYTES, &next);
        end = result ? length : next * UNIT_BYTES;
    }
    if (result && result != STORE_NOT_FOUND)
        return result;
    if (end > length)
        end = length;
    window.fragments = arena_array(reader->arena, 2 * parts.count + 1, sizeof window.fragments[0]);
    for (size_t i = 0; i < parts.count && parts.items[i].start < end; i++) {
        const struct part *part = &parts.items[i];

        add_fragment(&window, part->start, NULL);
        add_fragment(&window, part->end < end ? part->end : end, part);
    }
    add_fragment(&window, end, NULL);
    assert_window(&window);
    *ret_window = window;
    return STORE_OK;
}

enum store_result map_reader_load(struct map_reader *reader, uint64_t offset, uint64_t end,
                                  struct window *ret_window)
{
    enum store_result result;

    if (reader->content.form == CONTENT_SPARSE) {
        if (reader->rewinds)
            arena_rewind(reader->arena, reader->empty);
        return load_sparse(reader, offset, end, ret_window);
    }
    result = load_segment(reader, offset);
    if (result)
        return result;
    if (reader->rewinds)
        arena_rewind(reader->arena, reader->with_segment);
    return load_window(reader, offset, ret_window);
}

void map_reader_read_ahead(const struct map_reader *reader, uint64_t from, uint64_t end)
{
    struct arena *arena = arena_new(READER_ARENA_MAX);
    struct map_reader ahead;
    struct window window;

    map_reader_init(&ahead, reader->snapshot, arena, true, &reader->content);
    for (unsigned i = 0; i < WINDOWS_AHEAD && from < end; i++) {
        if (map_reader_load(&ahead, from, end, &window))
            break;
        from = window.end;
    }
    arena_free(arena);
}
