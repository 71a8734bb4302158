/* The owner's side of a stage. */
#include "store/embedded/stage.h"

#include <assert.h>
#include <stdlib.h>

#include "base/crc.h"
#include "store/embedded/embedded_private.h"

struct stage *embedded_stage_open(struct store *store, uint64_t length_hint)
{
    struct embedded_stage *stage = xcalloc(1, sizeof *stage);

    stage->stage.store = store;
    stage->length_hint = length_hint;
    stage->job.run = stage_run;
    return &stage->stage;
}

/* A new piece at the end: as long as it may be, or as the hint says. */
static struct staged_piece *add_piece(struct embedded_stage *stage)
{
    struct staged_piece *piece = xcalloc(1, sizeof *piece);
    uint64_t left = stage->length_hint > stage->total ? stage->length_hint - stage->total : 0;

    piece->piece.sector_crc = piece->crc;
    piece->capacity = left > 0 && left < PIECE_MAX_BYTES ? (uint32_t)left : PIECE_MAX_BYTES;
    if (stage->last)
        stage->last->next = piece;
    else
        stage->first = piece;
    stage->last = piece;
    stage->piece_count++;
    return piece;
}

/* Takes an empty buffer for the next sector. */
static bool begin_sector(struct embedded_stage *stage, struct waiter *waiter)
{
    struct embedded *embedded = embedded_of(stage->stage.store);
    struct io_buffer *buffer = io_buffer_take(&embedded->io, waiter);
    struct staged_piece *piece = stage->last;

    stage->buffer_waiter = buffer ? NULL : waiter;
    if (!buffer)
        return false;
    if (!piece || piece->piece.length == piece->capacity)
        piece = add_piece(stage);
    buffer->piece = piece;
    buffer->offset = piece->piece.length;
    buffer->length = 0;
    stage->filling = buffer;
    return true;
}

/* Copies what fits, summing it up; returns how much. */
static size_t fill(struct embedded_stage *stage, struct bytes data)
{
    struct io_buffer *buffer = stage->filling;
    struct staged_piece *piece = buffer->piece;
    uint32_t sector = buffer->offset / PIECE_SECTOR_BYTES;
    size_t room = piece->capacity - piece->piece.length;

    if (room > PIECE_SECTOR_BYTES - buffer->length)
        room = PIECE_SECTOR_BYTES - buffer->length;
    if (data.len < room)
        room = data.len;
    memcpy(buffer->bytes + buffer->length, data.ptr, room);
    piece->crc[sector] = crc32c(piece->crc[sector], data.ptr, room);
    buffer->length += (uint32_t)room;
    piece->piece.length += (uint32_t)room;
    stage->total += room;
    return room;
}

static bool is_full(const struct io_buffer *buffer)
{
    return buffer->length == PIECE_SECTOR_BYTES ||
           buffer->piece->piece.length == buffer->piece->capacity;
}

/* Hands the buffer being filled to the I/O threads. */
static void queue_filling(struct embedded_stage *stage)
{
    struct embedded *embedded = embedded_of(stage->stage.store);
    struct io_pool *pool = &embedded->io;
    struct io_buffer *buffer = stage->filling;

    stage->filling = NULL;
    buffer->next = NULL;
    buffer->holders = stage->stage.wants_md5 ? 2 : 1;
    lock_take(&pool->lock);
    if (stage->queue_first)
        stage->queue_last->next = buffer;
    else
        stage->queue_first = buffer;
    stage->queue_last = buffer;
    stage->queued++;
    if (!stage->in_hand) {
        stage->in_hand = true;
        io_pool_add_locked(pool, &stage->job);
    }
    if (stage->stage.wants_md5)
        stage_summer_add_locked(&embedded->summer, stage, buffer);
    lock_give(&pool->lock);
}

/* The result so far; arms the waiter when the queue is long. */
static enum store_result check_queue(struct embedded_stage *stage, struct waiter *waiter)
{
    struct io_pool *pool = &embedded_of(stage->stage.store)->io;
    enum store_result result = STORE_OK;

    lock_take(&pool->lock);
    if (stage->state == STAGE_FAILED) {
        result = stage->result;
    } else if (stage->queued >= STAGE_QUEUED_MAX) {
        stage->waiter = waiter;
        result = STORE_WAIT;
    }
    lock_give(&pool->lock);
    return result;
}

enum store_result embedded_stage_write(struct stage *base, struct bytes data, struct waiter *waiter,
                                       size_t *ret_taken)
{
    struct embedded_stage *stage = (struct embedded_stage *)base;
    size_t taken = 0;

    *ret_taken = 0;
    while (taken < data.len) {
        if (!stage->filling) {
            enum store_result result = check_queue(stage, waiter);

            if (!result && !begin_sector(stage, waiter))
                result = STORE_WAIT;
            if (result) {
                *ret_taken = taken;
                return result;
            }
        }
        taken += fill(stage, bytes_from(data, taken));
        if (is_full(stage->filling))
            queue_filling(stage);
    }
    *ret_taken = taken;
    return STORE_OK;
}

static void make_array(struct embedded_stage *stage)
{
    size_t i = 0;

    if (stage->array || stage->piece_count == 0)
        return;
    stage->array = xcalloc(stage->piece_count, sizeof stage->array[0]);
    for (struct staged_piece *piece = stage->first; piece; piece = piece->next)
        stage->array[i++] = piece->piece;
    assert(i == stage->piece_count);
}

enum store_result embedded_stage_finish(struct stage *base, struct waiter *waiter)
{
    struct embedded_stage *stage = (struct embedded_stage *)base;
    struct io_pool *pool = &embedded_of(base->store)->io;
    enum store_result result = STORE_WAIT;

    if (stage->filling)
        queue_filling(stage);
    lock_take(&pool->lock);
    if (stage->state == STAGE_FILLING && !stage->first)
        stage->state = STAGE_DONE;
    if (stage->state == STAGE_FILLING) {
        stage->state = STAGE_WRITING;
        if (!stage->in_hand) {
            stage->in_hand = true;
            io_pool_add_locked(pool, &stage->job);
        }
    }
    if (stage->state == STAGE_DONE && !stage->in_sum)
        result = STORE_OK;
    else if (stage->state == STAGE_FAILED)
        result = stage->result;
    else
        stage->waiter = waiter;
    lock_give(&pool->lock);
    if (!result)
        make_array(stage);
    return result;
}

const struct piece *embedded_stage_pieces(const struct stage *base, size_t *ret_count)
{
    const struct embedded_stage *stage = (const struct embedded_stage *)base;

    *ret_count = stage->piece_count;
    return stage->array;
}

void embedded_stage_close(struct stage *base)
{
    struct embedded_stage *stage = (struct embedded_stage *)base;
    struct io_pool *pool = &embedded_of(base->store)->io;
    bool in_hands;

    if (stage->buffer_waiter)
        io_buffer_forget(pool, stage->buffer_waiter);
    if (stage->filling)
        stage->filling->next = NULL;
    io_buffers_give(pool, stage->filling);
    lock_take(&pool->lock);
    while (stage->waking > 0)
        lock_wait(&pool->lock, &pool->woken, -1);
    stage->closed = true;
    stage->waiter = NULL;
    in_hands = stage->in_hand || stage->in_sum;
    if (in_hands)
        atomic_fetch_add(&embedded_of(base->store)->ending_stages, 1);
    lock_give(&pool->lock);
    if (!in_hands)
        stage_end(stage); /* else the last thread that has it does, and counts it */
}
