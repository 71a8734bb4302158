/* The part of a stage that I/O threads run: places for pieces, writes. */
#include "store/embedded/stage.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>

#include "store/embedded/embedded_private.h"

#define WRITE_MAX   32            /* buffers in one call */
#define RUN_BYTES   (64ull << 20) /* maximum for one request */
#define FLUSH_BYTES (1u << 20)

/* Assigns a place to a piece, after the previous one if the run has space. */
static enum store_result place(struct embedded *embedded, struct embedded_stage *stage,
                               struct staged_piece *piece, uint64_t bytes_left)
{
    uint64_t room = extent_room(piece->capacity);

    if (stage->run.length < room) {
        uint64_t most = bytes_left < RUN_BYTES ? bytes_left : RUN_BYTES;
        enum store_result result;

        stage_return_run(embedded, stage);
        result = extents_cut(&embedded->extents, room, most > room ? most : room, &stage->run);
        if (result == STORE_IO)
            embedded_fail(embedded);
        if (result)
            return result;
    }
    assert(stage->run.length >= room);
    piece->piece.extent = stage->run.extent;
    piece->piece.offset = stage->run.offset;
    stage->run.offset += room;
    stage->run.length -= room;
    stage->placed = piece;
    extents_stage(&embedded->extents, piece);
    return STORE_OK;
}

/* Writes adjacent buffers of one piece. */
static enum store_result write_run(struct embedded *embedded, struct embedded_stage *stage,
                                   struct io_buffer *first, size_t count)
{
    const struct piece *piece = &first->piece->piece;
    struct bytes runs[WRITE_MAX];
    struct io_buffer *buffer = first;
    uint64_t offset = piece->offset + first->offset;
    uint64_t length = 0;
    struct extent *extent;
    enum store_result result;

    assert(count > 0 && count <= WRITE_MAX);
    for (size_t i = 0; i < count; i++, buffer = buffer->next) {
        runs[i] = bytes_of(buffer->bytes, buffer->length);
        length += buffer->length;
    }
    assert(offset + length <= piece->offset + PIECE_MAX_BYTES);
    result = extents_take(&embedded->extents, piece->extent, &extent);
    if (result)
        return result;
    result = stage->stage.encrypts
                 ? stage_write_encrypted(stage, first, count, extent)
                 : extent_file_write(extent->fd, piece->extent, runs, count, offset);
    if (result == STORE_IO)
        embedded_fail(embedded);
    /* The kernel starts the write-back while more bytes arrive, so that the final sync is short. */
    if (!result && length >= FLUSH_BYTES)
        sync_file_range(extent->fd, (off_t)offset, (off_t)length, SYNC_FILE_RANGE_WRITE);
    extents_give(&embedded->extents, extent);
    return result;
}

static enum store_result write_buffers(struct embedded *embedded, struct embedded_stage *stage,
                                       struct io_buffer *buffer)
{
    while (buffer) {
        struct io_buffer *last = buffer;
        size_t count = 1;
        enum store_result result = STORE_OK;

        if (buffer->offset == 0) {
            uint64_t before = stage->written;
            uint64_t left = stage->length_hint > before && stage->length_hint != UINT64_MAX
                                ? stage->length_hint - before
                                : 0;

            result = place(embedded, stage, buffer->piece, left);
        }
        stage->written += buffer->length;
        while (last->next && last->next->piece == buffer->piece && count < WRITE_MAX) {
            last = last->next;
            stage->written += last->length;
            count++;
        }
        if (!result)
            result = write_run(embedded, stage, buffer, count);
        if (result)
            return result;
        buffer = last->next;
    }
    return STORE_OK;
}

/* The last piece may be shorter than planned, so the rest is released. */
static void shorten_last(struct embedded *embedded, struct embedded_stage *stage)
{
    struct staged_piece *piece = stage->placed;
    uint64_t more = extent_room(piece->capacity) - extent_room(piece->piece.length);

    assert(piece == stage->last && piece->piece.length <= piece->capacity);
    assert(stage->written == stage->total);
    piece->capacity = piece->piece.length;
    stage->run.offset -= more;
    stage->run.length += more;
    stage_return_run(embedded, stage);
}

/* Takes the queued buffers; NULL if none exist. Caller holds the lock. */
static struct io_buffer *take_queue(struct embedded_stage *stage)
{
    struct io_buffer *first = stage->queue_first;

    stage->queue_first = NULL;
    return first;
}

/* Decides what to do after the queued buffers were written. Stops using the stage unless there are
 * more. */
enum next { NEXT_WRITE, NEXT_SYNC, NEXT_NONE };

static enum next after_writing(struct embedded *embedded, struct embedded_stage *stage,
                               struct io_buffer *buffers, enum store_result result)
{
    struct io_pool *pool = &embedded->io;
    struct stage_detach detach = { 0 };
    enum next next;

    lock_acquire(&pool->lock);
    while (buffers) {
        struct io_buffer *buffer = buffers;

        buffers = buffer->next;
        stage_release_buffer_locked(&detach, stage, buffer);
    }
    assert(stage->in_io);
    if (result && stage->state != STAGE_FAILED) {
        stage->state = STAGE_FAILED;
        stage->result = result == STORE_CORRUPT ? STORE_IO : result;
    }
    if (stage->queue_first || (stage->state == STAGE_WRITING && stage->sector_bytes > 0)) {
        next = NEXT_WRITE;
    } else if (stage->state == STAGE_WRITING && !stage->closed) {
        stage->state = STAGE_SYNCING;
        next = NEXT_SYNC;
    } else {
        stage->in_io = false;
        next = NEXT_NONE;
    }
    stage_detach_locked(&detach, stage);
    lock_release(&pool->lock);
    stage_detach_finish(&detach);
    return next;
}

void stage_run(struct io_job *job)
{
    struct embedded_stage *stage =
        (struct embedded_stage *)((char *)job - offsetof(struct embedded_stage, job));
    struct embedded *embedded = embedded_of(stage->stage.store);
    enum next next;

    do {
        struct io_buffer *buffers;
        enum store_result result = STORE_OK;
        bool failed, is_last;

        lock_acquire(&embedded->io.lock);
        buffers = take_queue(stage);
        failed = stage->state == STAGE_FAILED;
        is_last = stage->state == STAGE_WRITING;
        lock_release(&embedded->io.lock);
        if (!failed && atomic_load(&embedded->failed))
            result = STORE_IO;
        else if (!failed)
            result = write_buffers(embedded, stage, buffers);
        if (!failed && !result && is_last)
            result = stage_write_last_sector(embedded, stage);
        next = after_writing(embedded, stage, buffers, result);
    } while (next == NEXT_WRITE);
    if (next == NEXT_SYNC) {
        shorten_last(embedded, stage);
        extent_syncer_add(&embedded->extent_syncer, stage);
    }
}
