/* Scrubs all records and pieces: see store/scrub.h. A piece is read through a snapshot that refers
 * to it, so deletion is not mistaken for damage (store invariant 4). */
#include "store/scrub.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/crc.h"
#include "base/file.h"
#include "base/log.h"
#include "store/embedded/embedded_private.h"
#include "store/record_key.h"
#include "store/record_value.h"

#define STEP_RECORDS 512
#define STEP_BYTES   (4u << 20)
/* A snapshot retains deleted pieces, so it is reopened after this many bytes. */
#define HOLD_BYTES   (16u << 20)
#define ARENA_MAX    (1u << 30)
#define BLOCK_BYTES  4096u
/* Recently read pieces, because a blob and its snapshots share theirs. */
#define SEEN_PIECES  4096u

static const char end_of_all[] = { (char)0xff };

struct scrub {
    struct store *store;
    struct key place; /* the first unprocessed record; empty: the beginning */
    uint64_t records;
    uint64_t step_bytes; /* read by this step */
    int fd;              /* of an extent, opened with O_DIRECT if possible; -1: none */
    uint32_t extent;
    char *buffer;               /* PIECE_SECTOR_BYTES, aligned for O_DIRECT */
    uint64_t seen[SEEN_PIECES]; /* extents_place() of pieces */
};

struct scrub *scrub_open(struct store *store, struct bytes place)
{
    struct scrub *scrub = xcalloc(1, sizeof *scrub);

    scrub->store = store;
    scrub->fd = -1;
    key_init(&scrub->place);
    key_set_raw(&scrub->place, place);
    if (posix_memalign((void **)&scrub->buffer, BLOCK_BYTES, PIECE_SECTOR_BYTES) != 0)
        abort(); /* as xmalloc() */
    return scrub;
}

void scrub_close(struct scrub *scrub)
{
    if (scrub->fd >= 0)
        close(scrub->fd);
    key_release(&scrub->place);
    free(scrub->buffer);
    free(scrub);
}

struct bytes scrub_place(const struct scrub *scrub)
{
    return key_bytes(&scrub->place);
}

uint64_t scrub_records(const struct scrub *scrub)
{
    return scrub->records;
}

/* ---- a piece ---- */

static uint64_t *seen_entry(struct scrub *scrub, const struct piece *piece)
{
    return &scrub->seen[(piece->offset / EXTENT_UNIT * 31 + piece->extent) % SEEN_PIECES];
}

static enum store_result open_extent(struct scrub *scrub, uint32_t id)
{
    enum store_result result;

    if (scrub->fd >= 0 && scrub->extent == id)
        return STORE_OK;
    if (scrub->fd >= 0)
        close(scrub->fd);
    scrub->fd = -1;
    result = extent_file_open_direct(embedded_of(scrub->store)->extents.folder, id, &scrub->fd);
    scrub->extent = id;
    return result;
}

/* Pieces occupy whole blocks, so the read may extend beyond the end of the piece. */
static enum store_result read_sector(struct scrub *scrub, const struct piece *piece,
                                     uint32_t sector)
{
    uint32_t begin = sector * PIECE_SECTOR_BYTES;
    uint32_t length =
        piece->length - begin < PIECE_SECTOR_BYTES ? piece->length - begin : PIECE_SECTOR_BYTES;
    ssize_t size =
        file_read_at(scrub->fd, scrub->buffer, (size_t)extent_room(length), piece->offset + begin);

    if (size < 0) {
        log_errno("store: read extent %08x", piece->extent);
        return STORE_IO;
    }
    return (uint32_t)size >= length && crc32c(0, scrub->buffer, length) == piece->sector_crc[sector]
               ? STORE_OK
               : STORE_CORRUPT;
}

static const char *check_piece(struct scrub *scrub, const struct piece *piece)
{
    enum store_result result = open_extent(scrub, piece->extent);

    for (uint32_t i = 0; i < piece_sectors(piece) && !result; i++)
        result = read_sector(scrub, piece, i);
    if (result == STORE_CORRUPT)
        verified_forget(&embedded_of(scrub->store)->verified, piece->extent, piece->offset);
    scrub->step_bytes += piece->length;
    return !result                   ? NULL
           : result == STORE_CORRUPT ? "some of its bytes are damaged"
                                     : "some of its bytes cannot be read";
}

/* ---- a record ---- */

/* Verifies the pieces of a record from `first` on, until enough was read. *ret_next: the first one
 * not read; their count if all were, or the record is gone. Returns false if the listener
 * stopped. */
static bool check_pieces(struct scrub *scrub, const struct record_place *place, size_t first,
                         const struct scrub_listener *listener, bool *is_damaged, size_t *ret_next)
{
    struct partition partition = { place->space, place->partition_key };
    struct read_view *snapshot = read_view_open(scrub->store, partition, STORE_MAY_BLOCK);
    struct arena *arena = arena_new(ARENA_MAX);
    uint64_t read = 0;
    bool goes_on = true;
    struct record record;
    size_t at = SIZE_MAX;
    enum store_result result =
        read_view_get(snapshot, place->family, place->record_key, arena, &record);

    if (result && result != STORE_NOT_FOUND && !*is_damaged) {
        listener->damaged(listener->context, place, "its record cannot be read; see the log");
        *is_damaged = true;
    }
    if (!result)
        for (at = first; at < record.piece_count && goes_on && read < HOLD_BYTES; at++) {
            const struct piece *piece = &record.pieces[at];
            uint64_t *seen = seen_entry(scrub, piece);
            const char *wrong;

            if (*seen == extents_place(piece->extent, piece->offset))
                continue;
            wrong = check_piece(scrub, piece);
            *seen = wrong ? 0 : extents_place(piece->extent, piece->offset);
            if (wrong && !*is_damaged)
                listener->damaged(listener->context, place, wrong);
            *is_damaged = *is_damaged || wrong;
            read += piece->length;
            goes_on = listener->read(listener->context, piece->length);
        }
    *ret_next = at < SIZE_MAX && at < record.piece_count ? at : SIZE_MAX;
    arena_free(arena);
    read_view_close(snapshot);
    return goes_on;
}

/* Returns false if the listener stopped; the record is not done. */
static bool check_record(struct scrub *scrub, struct bytes key, struct bytes value,
                         const struct scrub_listener *listener)
{
    struct arena *arena = arena_new(ARENA_MAX);
    struct record_place place = {
        .family = key.ptr[0] == KEY_KIND_LISTED ? RECORD_LISTED : RECORD_INNER,
    };
    bool goes_on = true, is_damaged = false;
    struct bytes escaped = { 0 };
    struct record record;
    char *partition;
    size_t next = 0;

    if (key.len < KEY_SPACE_SIZE || !key_split(key, &escaped, &place.record_key))
        escaped.len = 0;
    partition = arena_bytes(arena, escaped.len + 1);
    if (key.len >= KEY_SPACE_SIZE)
        memcpy(place.space.b, key.ptr + 1, sizeof place.space.b);
    place.partition_key.ptr = partition;
    if (!key_unescape(escaped, partition, &place.partition_key.len) ||
        record_value_read(value, arena, &record))
        listener->damaged(listener->context, &place, "one of its records is corrupt");
    else
        while (goes_on && next < record.piece_count)
            goes_on = check_pieces(scrub, &place, next, listener, &is_damaged, &next);
    arena_free(arena);
    return goes_on;
}

/* ---- a step ---- */

static bool is_record(struct bytes key)
{
    return key.len > 0 && (key.ptr[0] == KEY_KIND_LISTED || key.ptr[0] == KEY_KIND_INNER);
}

enum store_result scrub_step(struct scrub *scrub, const struct scrub_listener *listener)
{
    struct cursor *cursor = cursor_open(scrub->store, bytes_of(end_of_all, sizeof end_of_all));
    enum store_result result = embedded_cursor_seek(cursor, key_bytes(&scrub->place));
    const struct record_place nowhere = { .family = RECORD_LISTED };
    uint64_t bytes = 0;
    size_t count = 0;

    scrub->step_bytes = 0;
    while (!result) {
        key_set_raw(&scrub->place, cursor->key);
        if (count++ >= STEP_RECORDS || scrub->step_bytes >= STEP_BYTES)
            break;
        bytes += cursor->key.len + cursor->value.len;
        if (is_record(cursor->key) && !check_record(scrub, cursor->key, cursor->value, listener))
            break;
        scrub->records++;
        result = embedded_cursor_next(cursor);
    }
    embedded_cursor_close(cursor);
    (void)listener->read(listener->context, bytes);
    if (!result || result == STORE_NOT_FOUND)
        return result;
    listener->damaged(listener->context, &nowhere,
                      "records cannot be read: the rest is not checked; see the log");
    return STORE_CORRUPT;
}
