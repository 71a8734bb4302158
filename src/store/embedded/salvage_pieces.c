/* See salvage_pieces.h. */
#include "store/embedded/salvage_pieces.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/crc.h"
#include "base/file.h"
#include "base/log.h"
#include "store/embedded/extent_file.h"

static enum store_result find(struct salvage_pieces *pieces, uint32_t id,
                              struct salvage_extent *ret_extent)
{
    struct salvage_extent extent = { .id = id, .from = -1 };
    enum store_result result;

    for (size_t i = 0; i < pieces->count; i++)
        if (pieces->list[i].id == id) {
            *ret_extent = pieces->list[i];
            return STORE_OK;
        }
    if (pieces->from >= 0 && extent_file_open(pieces->from, id, &extent.from))
        extent.from = -1;
    result = extent_file_create(pieces->to, id, &extent.to);
    if (result) {
        if (extent.from >= 0)
            close(extent.from);
        return result;
    }
    if (pieces->count == pieces->capacity) {
        pieces->capacity = pieces->capacity > 0 ? 2 * pieces->capacity : 16;
        pieces->list = xrealloc(pieces->list, pieces->capacity * sizeof pieces->list[0]);
    }
    pieces->list[pieces->count++] = extent;
    *ret_extent = extent;
    return STORE_OK;
}

enum store_result salvage_copy_piece(struct salvage_pieces *pieces, const struct piece *piece)
{
    struct salvage_extent extent;
    enum store_result result = find(pieces, piece->extent, &extent);
    char *sector = xmalloc(PIECE_SECTOR_BYTES);

    for (uint32_t i = 0; i < piece_sectors(piece) && !result && extent.from >= 0; i++) {
        uint32_t at = i * PIECE_SECTOR_BYTES;
        uint32_t left = piece->length - at;
        struct bytes run = { sector, left < PIECE_SECTOR_BYTES ? left : PIECE_SECTOR_BYTES };

        if (file_read_at(extent.from, sector, run.len, piece->offset + at) == (ssize_t)run.len &&
            crc32c(0, sector, run.len) == piece->sector_crc[i])
            result = extent_file_write(extent.to, extent.id, &run, 1, piece->offset + at);
    }
    free(sector);
    return result;
}

enum store_result salvage_finish_pieces(struct salvage_pieces *pieces)
{
    enum store_result result = STORE_OK;

    for (size_t i = 0; i < pieces->count; i++) {
        if (fsync(pieces->list[i].to) < 0) {
            log_errno("store: sync a salvaged extent");
            result = STORE_IO;
        }
        if (pieces->list[i].from >= 0)
            close(pieces->list[i].from);
        close(pieces->list[i].to);
    }
    free(pieces->list);
    if (fsync(pieces->to) < 0)
        result = STORE_IO;
    return result;
}
