/* Bytes of a content on their way out: one segment of its map at a time lies in an arena of the
 * reader's own (the only one of a small content in the caller's: an arena costs as much as reading
 * it), and pieces are read straight to where the caller wants them. */
#include <assert.h>

#include "content/segment.h"

/* A segment with its pieces; far more than SEGMENT_WEIGHT_MAX decodes to. */
#define READER_ARENA_MAX (8u << 20)

/* All of a range must be checked before it is sent from a file, so a larger one would keep its
 * client waiting: it is checked while it is sent. */
#define FILE_RANGE_MAX   (8u << 20)

/* Bytes of the loaded segment that lie together: inline, or one piece. */
struct run {
    size_t entry; /* index of it in the segment */
    size_t piece; /* index of it in the entry */
    uint64_t start, end;
};

struct content_reader {
    struct arena *arena;       /* of the segment */
    bool owns_arena;           /* else it is the caller's, and no segment takes another's place */
    struct arena_mark emptied; /* without a segment */
    struct store *store;
    struct snapshot *snapshot; /* owned */
    struct content content;
    uint64_t at, end;       /* of the range, what is left */
    struct segment segment; /* end 0: none is loaded yet */
    struct run run;         /* with the byte at `at`, or before it */

    struct run checking; /* content_reader_begin: checked so far, when it has to wait */
    struct piece_file file;
    bool begun;
};

struct content_reader *content_reader_open(struct store *store, struct snapshot *snapshot,
                                           struct arena *arena, const struct content *content,
                                           uint64_t offset, uint64_t length)
{
    struct content_reader *reader = arena_alloc(arena, sizeof *reader);
    bool owns_arena = !segment_is_only(content);

    assert(offset <= content->length && length <= content->length - offset);
    if (owns_arena)
        arena = arena_new(READER_ARENA_MAX);
    *reader = (struct content_reader){
        .arena = arena,
        .owns_arena = owns_arena,
        .emptied = arena_mark(arena),
        .store = store,
        .snapshot = snapshot,
        .content = *content,
        .at = offset,
        .end = offset + length,
    };
    return reader;
}

void content_reader_close(struct content_reader *reader)
{
    snapshot_close(reader->snapshot);
    if (reader->owns_arena)
        arena_free(reader->arena);
}

/* ---- runs ---- */

static const struct entry *run_entry(const struct content_reader *reader, const struct run *run)
{
    assert(run->entry < reader->segment.entry_count);
    return &reader->segment.entries[run->entry];
}

/* NULL when the run lies inline. */
static const struct piece *run_piece(const struct content_reader *reader, const struct run *run)
{
    const struct entry *entry = run_entry(reader, run);

    return entry->piece_count > 0 ? &entry->pieces[run->piece] : NULL;
}

static void run_set_end(const struct content_reader *reader, struct run *run)
{
    const struct piece *piece = run_piece(reader, run);

    run->end = run->start + (piece ? piece->length : run_entry(reader, run)->length);
}

static void run_first(const struct content_reader *reader, struct run *run)
{
    *run = (struct run){ .start = reader->segment.start };
    run_set_end(reader, run);
}

/* Only while the segment has bytes after the run. */
static void run_next(const struct content_reader *reader, struct run *run)
{
    run->start = run->end;
    run->piece++;
    if (run->piece >= run_entry(reader, run)->piece_count) {
        run->piece = 0;
        run->entry++;
    }
    run_set_end(reader, run);
}

/* Goes to the run with the byte at `at`. */
static enum store_result seek(struct content_reader *reader)
{
    assert(reader->at < reader->end);
    if (reader->at >= reader->segment.end) {
        enum store_result result;

        reader->segment.end = 0;
        if (reader->owns_arena)
            arena_rewind(reader->arena, reader->emptied);
        result = segment_at(reader->snapshot, reader->arena, &reader->content, reader->at,
                            &reader->segment);
        if (result)
            return result;
        run_first(reader, &reader->run);
    }
    while (reader->at >= reader->run.end)
        run_next(reader, &reader->run);
    return STORE_OK;
}

/* ---- beginning ---- */

/* True when what is to be read is all in pieces that lie one after the other, as far as the map
 * tells. */
static bool lies_together(const struct content_reader *reader)
{
    struct run run = reader->run;
    const struct piece *piece = run_piece(reader, &run);

    if (!piece || reader->end > reader->segment.end || reader->end - reader->at > FILE_RANGE_MAX)
        return false;
    while (run.end < reader->end) {
        const struct piece *before = piece;

        run_next(reader, &run);
        piece = run_piece(reader, &run);
        if (!piece || piece->extent != before->extent ||
            piece->offset != before->offset + before->length)
            return false;
    }
    return true;
}

/* Checks what the range has of one run. ret_file: where it lies. */
static enum store_result check_run(const struct content_reader *reader, const struct run *run,
                                   struct waiter *waiter, struct piece_file *ret_file)
{
    uint64_t from = reader->at > run->start ? reader->at : run->start;
    uint64_t to = reader->end < run->end ? reader->end : run->end;

    return piece_check(reader->store, run_piece(reader, run), (uint32_t)(from - run->start),
                       (uint32_t)(to - from), ret_file, waiter);
}

/* Checks run after run; goes on where it had to wait.
 * returns STORE_OK, STORE_WAIT, STORE_CORRUPT, STORE_IO
 *         STORE_NOT_FOUND  not in one range of a file, after all */
static enum store_result check_in_file(struct content_reader *reader, struct waiter *waiter)
{
    if (!reader->begun)
        reader->checking = reader->run;
    reader->begun = true;
    for (;;) {
        struct run *run = &reader->checking;
        struct piece_file file;
        enum store_result result = check_run(reader, run, waiter, &file);

        if (result)
            return result;
        if (run->start <= reader->at)
            reader->file = file;
        else if (file.fd != reader->file.fd ||
                 file.offset - reader->file.offset != run->start - reader->at)
            return STORE_NOT_FOUND;
        if (run->end >= reader->end)
            return STORE_OK;
        run_next(reader, run);
    }
}

/* Checks the sector with the first byte; the others are checked as they are read. */
static enum store_result check_first(const struct content_reader *reader, struct waiter *waiter)
{
    const struct piece *piece = run_piece(reader, &reader->run);
    char first;

    if (!piece)
        return STORE_OK;
    return piece_read(reader->store, piece, (uint32_t)(reader->at - reader->run.start), 1, &first,
                      waiter);
}

enum store_result content_reader_begin(struct content_reader *reader, struct waiter *waiter,
                                       struct piece_file *ret_file, bool *ret_in_file)
{
    enum store_result result = seek(reader);

    if (result)
        return result;
    if (lies_together(reader)) {
        result = check_in_file(reader, waiter);
        if (result == STORE_OK) {
            *ret_file = reader->file;
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

/* How many of `count` bytes from `offset` of a piece to read now. When the caller's room ends
 * inside a sector, that one is left for the next read, which would have to check it again. */
static uint32_t without_part_of_sector(uint32_t offset, uint32_t count)
{
    uint32_t over = (offset + count) % PIECE_SECTOR_BYTES;

    return over < count ? count - over : count;
}

static enum store_result read_piece(struct content_reader *reader, const struct piece *piece,
                                    char *to, uint64_t left, size_t max, struct waiter *waiter,
                                    size_t *ret_count)
{
    uint32_t offset = (uint32_t)(reader->at - reader->run.start);
    uint32_t count = (uint32_t)left; /* of a piece: fits */
    enum store_result result;

    if (max < left)
        count = without_part_of_sector(offset, (uint32_t)max);
    result = piece_read(reader->store, piece, offset, count, to, waiter);
    if (result)
        return result;
    reader->at += count;
    *ret_count = count;
    return STORE_OK;
}

/* Small blocks that lie inline are read together. A piece is read alone, since a waiter that was
 * armed for it must be the caller's only news. */
enum store_result content_reader_read(struct content_reader *reader, char *to, size_t max,
                                      struct waiter *waiter, size_t *ret_count)
{
    size_t got = 0;

    assert(max > 0);
    while (got < max && reader->at < reader->end) {
        enum store_result result = seek(reader);
        const struct piece *piece;
        uint64_t left;

        if (result && got == 0)
            return result;
        if (result)
            break; /* the next call says it */
        left = (reader->run.end < reader->end ? reader->run.end : reader->end) - reader->at;
        piece = run_piece(reader, &reader->run);
        if (piece && got == 0)
            return read_piece(reader, piece, to, left, max, waiter, ret_count);
        if (piece)
            break;
        if (left > max - got)
            left = max - got;
        memcpy(to + got,
               run_entry(reader, &reader->run)->inline_bytes.ptr + (reader->at - reader->run.start),
               (size_t)left);
        reader->at += left;
        got += (size_t)left;
    }
    *ret_count = got;
    return STORE_OK;
}
