/* Encrypts the sectors of a stage. An I/O thread does it while it writes them, because the hasher
 * needs the buffers as they are; it also computes their CRCs, which cover the stored bytes. */
#include "store/embedded/stage.h"

#include <assert.h>
#include <stdlib.h>

#include "base/crc.h"
#include "store/embedded/embedded_private.h"

static void begin_piece(struct embedded_stage *stage, struct staged_piece *piece)
{
    data_cipher_free(stage->cipher);
    piece->seal = piece_seal_new(&stage->stage, piece_sectors_of(piece->capacity), &stage->cipher);
    piece->piece.seal = piece->seal;
}

/* Encrypts and writes the collected sector of the newest piece. */
static enum store_result write_sector(struct embedded_stage *stage, const struct extent *extent)
{
    struct staged_piece *piece = stage->placed;
    uint32_t sector = stage->sector_number;
    struct bytes run = bytes_of(stage->sector, stage->sector_bytes);

    data_cipher_seal(stage->cipher, sector, stage->sector, run.len, piece->seal->tags[sector]);
    piece->crc[sector] = crc32c(0, run.ptr, run.len);
    stage->sector_bytes = 0;
    return extent_file_write(extent->fd, extent->id, &run, 1,
                             piece->piece.offset + (uint64_t)sector * PIECE_SECTOR_BYTES);
}

/* Adds the buffer's bytes to the sector, which may consist of several buffers if memory was
 * short. */
static void collect(struct embedded_stage *stage, const struct io_buffer *buffer)
{
    uint32_t at = buffer->offset % PIECE_SECTOR_BYTES;

    assert(buffer->piece == stage->placed);
    assert(at == stage->sector_bytes && at + buffer->length <= PIECE_SECTOR_BYTES);
    if (!stage->sector)
        stage->sector = xmalloc(PIECE_SECTOR_BYTES);
    memcpy(stage->sector + at, buffer->bytes, buffer->length);
    stage->sector_number = buffer->offset / PIECE_SECTOR_BYTES;
    stage->sector_bytes = at + buffer->length;
}

enum store_result stage_write_encrypted(struct embedded_stage *stage, struct io_buffer *buffer,
                                        size_t count, const struct extent *extent)
{
    enum store_result result = STORE_OK;

    for (size_t i = 0; i < count && !result; i++, buffer = buffer->next) {
        if (buffer->offset == 0)
            begin_piece(stage, buffer->piece);
        collect(stage, buffer);
        if (buffer->ends_sector)
            result = write_sector(stage, extent);
    }
    return result;
}

enum store_result stage_write_last_sector(struct embedded *embedded, struct embedded_stage *stage)
{
    struct extent *extent;
    enum store_result result;

    if (stage->sector_bytes == 0)
        return STORE_OK;
    result = extents_take(&embedded->extents, stage->placed->piece.extent, &extent);
    if (result)
        return result;
    result = write_sector(stage, extent);
    extents_give(&embedded->extents, extent);
    if (result == STORE_IO)
        embedded_fail(embedded);
    return result;
}

void stage_end_encryption(struct embedded_stage *stage)
{
    data_cipher_free(stage->cipher);
    free(stage->sector);
    explicit_bzero(stage->stage.key, sizeof stage->stage.key);
}
