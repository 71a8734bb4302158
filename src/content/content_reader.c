/* Reads the bytes of content. Loads one segment of its map at a time into its own arena (or, for
 * small content, into the caller's, because creating an arena costs as much as the read), and reads
 * pieces directly into the caller's buffer. */
#include <assert.h>
#include <fcntl.h>
#include <unistd.h>

#include "content/window.h"

struct content_reader {
    struct arena *own_arena; /* NULL if the map is in the caller's arena */
    struct store *store;
    struct read_view *snapshot; /* owned */
    struct map_reader map;
    uint64_t at, end; /* remaining range */
    struct window window;
    const struct fragment *fragment; /* fragment with the byte at `at`, or an earlier one */

    /* fragment at which content_reader_begin() resumes after a wait */
    const struct fragment *checking;
    struct piece_file file; /* location of the range, as of the first fragment */
    int own_fd;             /* -1 if none */
    bool begun;
};

/* Sparse content up to this size has a map of at most 16 KiB (64 pages, each written
 * separately). */
#define SMALL_SPARSE_BYTES (32u << 10)

/* Returns true if the map is a single small window. */
static bool has_small_map(const struct content *content)
{
    if (content->form == CONTENT_SPARSE)
        return content->length <= SMALL_SPARSE_BYTES;
    return segment_is_only(content);
}

static void assert_reader(const struct content_reader *reader)
{
    assert(reader->at <= reader->end && reader->end <= reader->map.content.length);
    assert(reader->snapshot && reader->map.snapshot == reader->snapshot);
}

struct content_reader *content_reader_open(struct store *store, struct read_view *snapshot,
                                           struct arena *arena, const struct content *content,
                                           uint64_t offset, uint64_t length)
{
    struct content_reader *reader = arena_alloc(arena, sizeof *reader);
    struct arena *own_arena = has_small_map(content) ? NULL : arena_new(READER_ARENA_MAX);

    assert(offset <= content->length && length <= content->length - offset);
    *reader = (struct content_reader){
        .own_arena = own_arena,
        .own_fd = -1,
        .store = store,
        .snapshot = snapshot,
        .at = offset,
        .end = offset + length,
    };
    map_reader_init(&reader->map, snapshot, own_arena ? own_arena : arena, own_arena != NULL,
                    content);
    assert_reader(reader);
    return reader;
}

void content_reader_close(struct content_reader *reader)
{
    read_view_close(reader->snapshot);
    if (reader->own_fd >= 0)
        close(reader->own_fd);
    if (reader->own_arena)
        arena_free(reader->own_arena);
}

void content_reader_move(struct content_reader *reader, uint64_t offset, uint64_t length)
{
    assert(!reader->begun && offset >= reader->at);
    reader->at = offset;
    reader->end = offset + length;
    assert_reader(reader);
}

enum store_result content_reader_ranges(struct content_reader *reader, struct arena *arena,
                                        const struct content *older, uint64_t start, uint64_t end,
                                        size_t max, struct content_ranges *ret_ranges)
{
    const struct content *content = &reader->map.content;

    if (older)
        return content_difference(reader->snapshot, arena, older, content, start, end, max,
                                  ret_ranges);
    return content_ranges(reader->snapshot, arena, content, start, end, max, ret_ranges);
}

/* Advances to the fragment with the byte at `at`. */
static enum store_result seek(struct content_reader *reader)
{
    assert(reader->at < reader->end);
    if (reader->at >= reader->window.end) {
        enum store_result result;

        reader->window.end = 0;
        result = map_reader_load(&reader->map, reader->at, reader->end, &reader->window);
        if (result) {
            reader->window.end = 0;
            return result;
        }
        reader->fragment = reader->window.fragments;
    }
    while (reader->at >= reader->fragment->end)
        reader->fragment++;
    assert(reader->fragment->start <= reader->at);
    assert(reader->fragment < reader->window.fragments + reader->window.count);
    return STORE_OK;
}

bool content_reader_lacks_map(const struct content_reader *reader)
{
    return reader->at < reader->end && reader->at >= reader->window.end;
}

enum store_result content_reader_load(struct content_reader *reader)
{
    struct store_access access = read_view_access(reader->snapshot);
    enum store_result result;

    read_view_set_access(reader->snapshot, STORE_MAY_BLOCK);
    result = seek(reader);
    if (!result)
        map_reader_read_ahead(&reader->map, reader->window.end, reader->end);
    read_view_set_access(reader->snapshot, access);
    return result;
}

/* ---- starting ---- */

/* Returns true if the range may be contiguous in one file, according to the map. */
static bool may_be_contiguous(const struct content_reader *reader)
{
    const struct fragment *fragment = reader->fragment;

    if (reader->end > reader->window.end || reader->end - reader->at > FILE_RANGE_MAX)
        return false;
    for (; fragment->end < reader->end; fragment++) {
        const struct piece *piece = fragment[0].piece, *next = fragment[1].piece;
        uint64_t length = fragment->end - fragment->start;

        if (!piece || !next || next->extent != piece->extent ||
            next->offset + fragment[1].piece_offset !=
                piece->offset + fragment->piece_offset + length)
            return false;
    }
    return fragment->piece != NULL;
}

/* Verifies the part of a fragment in begin..end. Sets *ret_file to its location */
static enum store_result check_fragment(const struct content_reader *reader,
                                        const struct fragment *fragment, uint64_t begin,
                                        uint64_t end, struct waiter *waiter,
                                        struct piece_file *ret_file)
{
    uint64_t from = begin > fragment->start ? begin : fragment->start;
    uint64_t to = end < fragment->end ? end : fragment->end;

    return piece_check(reader->store, fragment->piece,
                       fragment->piece_offset + (uint32_t)(from - fragment->start),
                       (uint32_t)(to - from), ret_file, waiter);
}

/* Returns true if a verified fragment directly follows the previous ones in the file. Duplicates
 * the descriptor, so that the reader keeps the file open. */
static bool follows(struct content_reader *reader, const struct fragment *fragment,
                    const struct piece_file *file)
{
    if (fragment->start <= reader->at)
        reader->file = (struct piece_file){ .fd = file->fd, .offset = file->offset };
    else if (file->fd != reader->file.fd ||
             file->offset - reader->file.offset != fragment->start - reader->at)
        return false;
    if (fragment->end >= reader->end)
        reader->own_fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
    return fragment->end < reader->end || reader->own_fd >= 0;
}

/* Verifies one fragment after another, and resumes after a wait. Returns STORE_OK, STORE_WAIT,
 * STORE_CORRUPT, STORE_IO, or STORE_NOT_FOUND if the range is not contiguous in one file or no
 * descriptor is available. */
static enum store_result check_in_file(struct content_reader *reader, struct waiter *waiter)
{
    if (!reader->begun)
        reader->checking = reader->fragment;
    reader->begun = true;
    for (;; reader->checking++) {
        const struct fragment *fragment = reader->checking;
        struct piece_file file;
        enum store_result result =
            check_fragment(reader, fragment, reader->at, reader->end, waiter, &file);
        bool fits;

        if (result)
            return result;
        fits = follows(reader, fragment, &file);
        piece_give(reader->store, &file);
        if (!fits)
            return STORE_NOT_FOUND;
        if (fragment->end >= reader->end)
            return STORE_OK;
    }
}

enum store_result content_reader_check(const struct content_reader *reader, uint64_t offset,
                                       uint64_t length, struct waiter *waiter)
{
    uint64_t begin = reader->at + offset, end = begin + length;
    const struct fragment *fragment = reader->fragment;

    assert(reader->begun && reader->own_fd >= 0 && end <= reader->end);
    while (fragment->end <= begin)
        fragment++;
    for (;; fragment++) {
        struct piece_file file;
        enum store_result result = check_fragment(reader, fragment, begin, end, waiter, &file);

        if (result)
            return result;
        piece_give(reader->store, &file);
        if (fragment->end >= end)
            return STORE_OK;
    }
}

/* Verifies the sector of the first byte; other sectors are verified when they are read. */
static enum store_result check_first(const struct content_reader *reader, struct waiter *waiter)
{
    const struct fragment *fragment = reader->fragment;
    char first;

    if (!fragment->piece)
        return STORE_OK;
    return piece_read(reader->store, fragment->piece,
                      fragment->piece_offset + (uint32_t)(reader->at - fragment->start), 1, &first,
                      waiter);
}

enum store_result content_reader_begin(struct content_reader *reader, struct waiter *waiter,
                                       struct piece_file *ret_file, bool *ret_in_file)
{
    enum store_result result = seek(reader);

    if (result)
        return result;
    if (ret_file && may_be_contiguous(reader)) {
        result = check_in_file(reader, waiter);
        if (result == STORE_OK) {
            *ret_file = (struct piece_file){ .fd = reader->own_fd, .offset = reader->file.offset };
            *ret_in_file = true;
            return STORE_OK;
        }
        if (result != STORE_NOT_FOUND)
            return result;
    }
    result = check_first(reader, waiter);
    if (result)
        return result;
    *ret_in_file = false;
    return STORE_OK;
}

/* ---- reading ---- */

/* Returns how many of `count` bytes at `offset` of a piece to read now. If they end inside a
 * sector, excludes that sector; otherwise the next read would have to verify it again. */
static uint32_t without_partial_sector(uint32_t offset, uint32_t count)
{
    uint32_t over = (offset + count) % PIECE_SECTOR_BYTES;

    return over < count ? count - over : count;
}

static enum store_result read_piece(struct content_reader *reader, char *to, uint64_t left,
                                    size_t max, struct waiter *waiter, size_t *ret_count)
{
    const struct fragment *fragment = reader->fragment;
    uint32_t offset = fragment->piece_offset + (uint32_t)(reader->at - fragment->start);
    uint32_t count = (uint32_t)left; /* fits because it is part of a piece */
    enum store_result result;

    if (max < left)
        count = without_partial_sector(offset, (uint32_t)max);
    result = piece_read(reader->store, fragment->piece, offset, count, to, waiter);
    if (result)
        return result;
    assert(count > 0 && count <= max);
    reader->at += count;
    assert_reader(reader);
    *ret_count = count;
    return STORE_OK;
}

/* Returns several small inline blocks at once, but at most one piece, so that nothing has been read
 * when it returns STORE_WAIT. */
enum store_result content_reader_read(struct content_reader *reader, char *to, size_t max,
                                      struct waiter *waiter, size_t *ret_count)
{
    size_t got = 0;

    assert_reader(reader);
    assert(max > 0);
    while (got < max && reader->at < reader->end) {
        enum store_result result = seek(reader);
        const struct fragment *fragment = reader->fragment;
        uint64_t left;

        if (result && got == 0)
            return result;
        if (result || (fragment->piece && got > 0))
            break; /* the next call resumes here */
        left = (fragment->end < reader->end ? fragment->end : reader->end) - reader->at;
        if (fragment->piece)
            return read_piece(reader, to, left, max, waiter, ret_count);
        if (left > max - got)
            left = max - got;
        if (fragment->bytes)
            memcpy(to + got, fragment->bytes + (reader->at - fragment->start), (size_t)left);
        else
            memset(to + got, 0, (size_t)left);
        reader->at += left;
        got += (size_t)left;
    }
    assert(got <= max && (got > 0 || reader->at == reader->end));
    *ret_count = got;
    return STORE_OK;
}
