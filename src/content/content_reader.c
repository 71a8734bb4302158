/* Reads the bytes of content. Loads one segment of its map at a time into its own arena (or, for
 * small content, into the caller's, because creating an arena costs as much as the read), and reads
 * pieces directly into the caller's buffer. */
#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "content/window.h"

struct content_reader {
    struct arena *own_arena; /* NULL if the map is in the caller's arena */
    struct store *store;
    struct read_view *snapshot; /* owned */
    struct map_reader map;
    uint64_t at, end; /* remaining range */
    struct window window;
    const struct fragment *fragment; /* the fragment that contains `at`, or an earlier one */

    /* where content_reader_begin() resumes after a wait */
    const struct fragment *checking;
    struct piece_file file; /* location of the range, determined from its first fragment */
    int own_fd;             /* -1 if none */
    bool begun;

    bool as_stored;             /* nothing is decrypted */
    const uint8_t *key;         /* key of encrypted pieces, or NULL */
    struct data_cipher *cipher; /* cipher of the current salt, or NULL */
    uint8_t salt[DATA_SALT_SIZE];
    char *sector; /* buffer for an encrypted sector that is read in part, or NULL */
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
    data_cipher_free(reader->cipher);
    free(reader->sector);
}

void content_reader_set_key(struct content_reader *reader, const uint8_t key[DATA_KEY_SIZE])
{
    assert(!reader->cipher && !reader->begun);
    reader->key = key;
}

void content_reader_skip_decryption(struct content_reader *reader)
{
    reader->as_stored = true;
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

/* Advances to the fragment that contains `at`. */
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

/* ---- describing ---- */

enum store_result content_reader_part(struct content_reader *reader, struct content_part *ret_part)
{
    enum store_result result = seek(reader);
    const struct fragment *fragment = reader->fragment;
    uint64_t skip, end;

    if (result)
        return result;
    skip = reader->at - fragment->start;
    end = fragment->end < reader->end ? fragment->end : reader->end;
    *ret_part = (struct content_part){
        .length = end - reader->at,
        .piece = fragment->piece,
        .offset = fragment->piece ? fragment->piece_offset + (uint32_t)skip : 0,
        .bytes = fragment->bytes ? fragment->bytes + skip : NULL,
    };
    reader->at = end;
    assert_reader(reader);
    return STORE_OK;
}

void content_reader_restart(struct content_reader *reader, uint64_t offset, uint64_t length)
{
    assert(!reader->begun);
    reader->window.end = 0;
    reader->at = offset;
    reader->end = offset + length;
    assert_reader(reader);
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

        if (!piece || piece->seal || !next || next->extent != piece->extent ||
            next->offset + fragment[1].piece_offset !=
                piece->offset + fragment->piece_offset + length)
            return false;
    }
    return fragment->piece && !fragment->piece->seal;
}

/* Verifies the part of a fragment that is within begin..end. Sets *ret_file to its location. */
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

/* Returns true if a verified fragment directly follows the previous ones in the file. At the last
 * one, duplicates the descriptor, so that the reader holds the file open. */
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

/* Verifies the fragments one at a time, and resumes after a wait. Returns STORE_OK, STORE_WAIT,
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

/* ---- encrypted pieces ---- */

/* Creates the cipher for a piece, unless the current one has the same salt. */
static enum store_result begin_piece(struct content_reader *reader, const struct piece *piece)
{
    const uint8_t *salt = piece->seal->salt, *key = reader->key;

    if (reader->cipher && memcmp(reader->salt, salt, DATA_SALT_SIZE) == 0)
        return STORE_OK;
    if (piece->seal->store_key > 0)
        key = piece_store_key(reader->store, piece);
    else if (!key)
        log_line(LOG_ERROR, "content: a piece in extent %08x is read without its key",
                 piece->extent);
    if (!key)
        return STORE_CORRUPT;
    data_cipher_free(reader->cipher);
    reader->cipher = data_cipher_new(key, salt);
    memcpy(reader->salt, salt, DATA_SALT_SIZE);
    return STORE_OK;
}

/* Reads and decrypts one sector, and copies up to `count` of its bytes, starting at `offset` of the
 * piece. */
static enum store_result decrypt_sector(struct content_reader *reader, const struct piece *piece,
                                        uint32_t offset, uint32_t *count, char *to,
                                        struct waiter *waiter)
{
    uint32_t begin = offset - offset % PIECE_SECTOR_BYTES, length = piece->length - begin;
    enum store_result result;

    if (length > PIECE_SECTOR_BYTES)
        length = PIECE_SECTOR_BYTES;
    if (!reader->sector)
        reader->sector = xmalloc(PIECE_SECTOR_BYTES);
    result = piece_read(reader->store, piece, begin, length, reader->sector, waiter);
    if (!result)
        result = piece_decrypt(piece, reader->cipher, begin, length, reader->sector);
    if (result)
        return result;
    if (*count > begin + length - offset)
        *count = begin + length - offset;
    memcpy(to, reader->sector + (offset - begin), *count);
    return STORE_OK;
}

/* Like piece_read(), for an encrypted piece. Reads either entire sectors or a part of one. Sets
 * *count to the number of bytes read. */
static enum store_result decrypt_piece(struct content_reader *reader, const struct piece *piece,
                                       uint32_t offset, uint32_t *count, char *to,
                                       struct waiter *waiter)
{
    uint32_t entire = *count;
    enum store_result result = begin_piece(reader, piece);

    if (result)
        return result;
    if (offset + *count < piece->length)
        entire -= *count % PIECE_SECTOR_BYTES;
    if (offset % PIECE_SECTOR_BYTES != 0 || entire == 0)
        return decrypt_sector(reader, piece, offset, count, to, waiter);
    *count = entire;
    result = piece_read(reader->store, piece, offset, entire, to, waiter);
    return result ? result : piece_decrypt(piece, reader->cipher, offset, entire, to);
}

/* Verifies the sector of the first byte; other sectors are verified when they are read. */
static enum store_result check_first(struct content_reader *reader, struct waiter *waiter)
{
    const struct fragment *fragment = reader->fragment;
    const struct piece *piece = fragment->piece;
    uint32_t offset, count = 1;
    enum store_result result;
    char first;

    if (!piece)
        return STORE_OK;
    offset = fragment->piece_offset + (uint32_t)(reader->at - fragment->start);
    if (!piece->seal)
        return piece_read(reader->store, piece, offset, 1, &first, waiter);
    result = begin_piece(reader, piece);
    return result ? result : decrypt_sector(reader, piece, offset, &count, &first, waiter);
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

/* Returns how many of `count` bytes at `offset` of a piece to read now: excludes a sector of which
 * only a part would be read, because the next read would have to verify it again. */
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
    uint32_t count = (uint32_t)left; /* fits in 32 bits because it is part of a piece */
    enum store_result result;

    if (max < left)
        count = without_partial_sector(offset, (uint32_t)max);
    if (fragment->piece->seal && !reader->as_stored)
        result = decrypt_piece(reader, fragment->piece, offset, &count, to, waiter);
    else
        result = piece_read(reader->store, fragment->piece, offset, count, to, waiter);
    if (result)
        return result;
    assert(count > 0 && count <= max);
    reader->at += count;
    assert_reader(reader);
    *ret_count = count;
    return STORE_OK;
}

/* Reads several small inline blocks at once, but at most one piece, so that nothing has been read
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
