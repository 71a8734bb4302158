/* A stage in the hands of an I/O thread: places for pieces, writes, and the end. */
#include "store/embedded/stage.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>

#include "store/embedded/embedded_private.h"

#define WRITE_MAX   32            /* buffers in one call */
#define RUN_BYTES   (64ull << 20) /* the most to ask for at once */
#define FLUSH_BYTES (1u << 20)

static void give_back_rest(struct embedded *embedded, struct embedded_stage *stage)
{
    if (stage->run.length > 0)
        extents_give_back(&embedded->extents, stage->run);
    stage->run.length = 0;
}

/* Gives a piece its place, in the run behind the piece before it if there is room. */
static enum store_result place(struct embedded *embedded, struct embedded_stage *stage,
                               struct staged_piece *piece, uint64_t bytes_left)
{
    uint64_t room = extent_room(piece->capacity);

    if (stage->run.length < room) {
        uint64_t most = bytes_left < RUN_BYTES ? bytes_left : RUN_BYTES;
        enum store_result result;

        give_back_rest(embedded, stage);
        result = extents_cut(&embedded->extents, room, most > room ? most : room, &stage->run);
        if (result)
            return result;
    }
    piece->piece.extent = stage->run.extent;
    piece->piece.offset = stage->run.offset;
    stage->run.offset += room;
    stage->run.length -= room;
    stage->placed = piece;
    extents_stage(&embedded->extents, piece);
    return STORE_OK;
}

/* Writes buffers of one piece, which follow each other. */
static enum store_result write_run(struct embedded *embedded, struct io_buffer *first, size_t count)
{
    const struct piece *piece = &first->piece->piece;
    struct bytes runs[WRITE_MAX];
    uint64_t offset = piece->offset + first->offset;
    uint64_t length = 0;
    enum store_result result;
    int fd;

    for (size_t i = 0; i < count; i++, first = first->next) {
        runs[i] = bytes_of(first->bytes, first->length);
        length += first->length;
    }
    result = extents_file(&embedded->extents, piece->extent, &fd);
    if (!result)
        result = extent_file_write(fd, piece->extent, runs, count, offset);
    /* The kernel begins to write out while the rest comes, so that the sync at the end is short. */
    if (!result && length >= FLUSH_BYTES)
        sync_file_range(fd, (off_t)offset, (off_t)length, SYNC_FILE_RANGE_WRITE);
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
            result = write_run(embedded, buffer, count);
        if (result)
            return result;
        buffer = last->next;
    }
    return STORE_OK;
}

/* The last piece may be shorter than it might have become: what is left behind it goes back. */
static void shorten_last(struct embedded *embedded, struct embedded_stage *stage)
{
    struct staged_piece *piece = stage->placed;
    uint64_t more = extent_room(piece->capacity) - extent_room(piece->piece.length);

    piece->capacity = piece->piece.length;
    stage->run.offset -= more;
    stage->run.length += more;
    give_back_rest(embedded, stage);
}

/* Takes what is queued; NULL when there is nothing. Under the lock. */
static struct io_buffer *take_queue(struct embedded_stage *stage)
{
    struct io_buffer *first = stage->queue_first;

    stage->queue_first = NULL;
    return first;
}

static size_t count_buffers(const struct io_buffer *buffer)
{
    size_t count = 0;

    for (; buffer; buffer = buffer->next)
        count++;
    return count;
}

/* After the queue was written: what is next. Gives the stage away unless more has come.
 * ret_waiter: to be woken. */
enum next { NEXT_WRITE, NEXT_SYNC, NEXT_END, NEXT_NONE };

static enum next after_writing(struct embedded *embedded, struct embedded_stage *stage,
                               size_t count, enum store_result result, struct waiter **ret_waiter)
{
    struct io_pool *pool = &embedded->io;
    enum next next;

    lock_take(&pool->lock);
    stage->queued -= count;
    if (result && stage->state != STAGE_FAILED) {
        stage->state = STAGE_FAILED;
        stage->result = result == STORE_FULL ? STORE_FULL : STORE_IO;
    }
    if (stage->queue_first) {
        next = NEXT_WRITE;
    } else if (stage->state == STAGE_WRITING && !stage->closed) {
        stage->state = STAGE_SYNCING;
        next = NEXT_SYNC;
    } else {
        stage->in_hand = false;
        next = stage->closed ? NEXT_END : NEXT_NONE;
    }
    *ret_waiter = NULL;
    if (stage->state == STAGE_FILLING || stage->state == STAGE_FAILED) {
        *ret_waiter = stage->waiter;
        stage->waiter = NULL;
    }
    lock_give(&pool->lock);
    return next;
}

/* The last of a stage that was closed in this thread's hands. */
static void end_in_hand(struct embedded *embedded, struct embedded_stage *stage)
{
    stage_end(stage);
    atomic_fetch_sub(&embedded->ending_stages, 1);
}

void stage_run(struct io_job *job)
{
    struct embedded_stage *stage =
        (struct embedded_stage *)((char *)job - offsetof(struct embedded_stage, job));
    struct embedded *embedded = embedded_of(stage->stage.store);
    enum next next;

    do {
        struct io_buffer *buffers;
        struct waiter *waiter;
        enum store_result result = STORE_OK;
        bool failed;
        size_t count;

        lock_take(&embedded->io.lock);
        buffers = take_queue(stage);
        failed = stage->state == STAGE_FAILED;
        lock_give(&embedded->io.lock);
        count = count_buffers(buffers);
        if (!failed && atomic_load(&embedded->failed))
            result = STORE_IO;
        else if (!failed)
            result = write_buffers(embedded, stage, buffers);
        if (result && result != STORE_FULL)
            embedded_fail(embedded);
        io_buffers_give(&embedded->io, buffers);
        next = after_writing(embedded, stage, count, result, &waiter);
        if (waiter)
            waiter->wake(waiter);
    } while (next == NEXT_WRITE);
    if (next == NEXT_SYNC) {
        shorten_last(embedded, stage);
        extent_syncer_add(&embedded->extent_syncer, stage);
    } else if (next == NEXT_END) {
        end_in_hand(embedded, stage);
    }
}

void stage_synced(struct embedded_stage *stage, enum store_result result)
{
    struct embedded *embedded = embedded_of(stage->stage.store);
    struct io_pool *pool = &embedded->io;
    struct waiter *waiter;
    bool closed;

    lock_take(&pool->lock);
    stage->state = result ? STAGE_FAILED : STAGE_DONE;
    stage->result = result;
    stage->in_hand = false;
    closed = stage->closed;
    waiter = stage->waiter;
    stage->waiter = NULL;
    lock_give(&pool->lock);
    if (waiter)
        waiter->wake(waiter);
    else if (closed)
        end_in_hand(embedded, stage);
}

/* The pieces that no commit refers to are given to reclaim. */
static void free_uncommitted(struct embedded *embedded, struct embedded_stage *stage)
{
    struct freed *freed = freed_new(stage->piece_count);

    for (struct staged_piece *piece = stage->first; piece; piece = piece->next)
        if (extents_unstage(&embedded->extents, piece))
            freed->pieces[freed->count++] =
                (struct freed_piece){ piece->piece.extent, piece->capacity, piece->piece.offset };
    if (freed->count == 0) {
        free(freed);
        return;
    }
    freed_count(&embedded->reclaim, freed);
    reclaim_add(&embedded->reclaim, freed);
}

void stage_end(struct embedded_stage *stage)
{
    struct embedded *embedded = embedded_of(stage->stage.store);
    struct staged_piece *piece = stage->first;

    free_uncommitted(embedded, stage);
    give_back_rest(embedded, stage);
    while (piece) {
        struct staged_piece *next = piece->next;

        free(piece);
        piece = next;
    }
    free(stage->array);
    free(stage);
}
