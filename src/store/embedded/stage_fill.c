/* The part of a stage that its owner runs. */
#include "store/embedded/stage.h"

#include <assert.h>
#include <stdlib.h>

#include "base/crc.h"
#include "store/embedded/admission.h"
#include "store/embedded/embedded_private.h"

/* Asserts the invariants that the owner can check. Called on the owner's thread. */
static void assert_filling(const struct embedded_stage *stage)
{
    const struct io_buffer *buffer = stage->filling;

    assert(!stage->first == !stage->last && !stage->first == (stage->piece_count == 0));
    assert(!buffer || buffer->piece == stage->last);
    assert(!buffer || buffer->length <= buffer->size);
    assert(!buffer || buffer->offset + buffer->length == stage->last->piece.length);
    assert(!buffer || stage->last->piece.length <= stage->last->capacity);
}

struct stage *embedded_stage_open(struct store *store, uint64_t length_hint)
{
    struct embedded_stage *stage = xcalloc(1, sizeof *stage);

    stage->stage.store = store;
    stage->length_hint = length_hint;
    stage->job.run = stage_run;
    return &stage->stage;
}

/* Appends a piece of maximum length, or of the length given by the hint or by stage_cut(). */
static struct staged_piece *add_piece(struct embedded_stage *stage)
{
    struct staged_piece *piece = xcalloc(1, sizeof *piece);
    uint64_t left = stage->length_hint > stage->total ? stage->length_hint - stage->total : 0;

    if (stage->stage.cut > stage->total)
        left = stage->stage.cut - stage->total;
    piece->piece.sector_crc = piece->crc;
    piece->capacity = left > 0 && left < PIECE_MAX_BYTES ? (uint32_t)left : PIECE_MAX_BYTES;
    if (stage->last)
        stage->last->next = piece;
    else
        stage->first = piece;
    stage->last = piece;
    stage->piece_count++;
    assert(piece->capacity > 0 && piece->capacity <= PIECE_MAX_BYTES);
    return piece;
}

/* Returns the free bytes of the current sector. */
static uint32_t sector_room(const struct embedded_stage *stage)
{
    const struct staged_piece *piece = stage->last;
    uint32_t length = piece->piece.length;
    uint32_t room = PIECE_SECTOR_BYTES - length % PIECE_SECTOR_BYTES;

    return room < piece->capacity - length ? room : piece->capacity - length;
}

/* Reserves an empty buffer for the next bytes. */
static bool begin_buffer(struct embedded_stage *stage, size_t coming, struct waiter *waiter)
{
    struct embedded *embedded = embedded_of(stage->stage.store);
    struct io_buffer *buffer;
    uint32_t room;

    assert(!stage->filling);
    if (!stage->last || stage->last->piece.length == stage->last->capacity)
        add_piece(stage);
    room = sector_room(stage);
    buffer = io_buffer_take(&embedded->io, coming < room ? coming : room, waiter);
    stage->buffer_waiter = buffer ? NULL : waiter;
    if (!buffer)
        return false;
    buffer->piece = stage->last;
    buffer->offset = stage->last->piece.length;
    stage->filling = buffer;
    return true;
}

/* Copies the bytes that fit and updates the sector's CRC, unless they will be encrypted; returns the
 * number of bytes. */
static size_t fill(struct embedded_stage *stage, struct bytes data)
{
    struct io_buffer *buffer = stage->filling;
    struct staged_piece *piece = buffer->piece;
    uint32_t sector = piece->piece.length / PIECE_SECTOR_BYTES;
    size_t room = sector_room(stage);

    if (room > buffer->size - buffer->length)
        room = buffer->size - buffer->length;
    if (data.len < room)
        room = data.len;
    assert(room > 0);
    memcpy(buffer->bytes + buffer->length, data.ptr, room);
    if (!stage->stage.encrypts)
        piece->crc[sector] = crc32c(piece->crc[sector], data.ptr, room);
    buffer->length += (uint32_t)room;
    piece->piece.length += (uint32_t)room;
    stage->total += room;
    return room;
}

/* Returns true if the buffer reaches the end of the sector or the piece. */
static bool ends_sector(const struct io_buffer *buffer)
{
    return (buffer->offset + buffer->length) % PIECE_SECTOR_BYTES == 0 ||
           buffer->piece->piece.length == buffer->piece->capacity;
}

/* Queues the buffer being filled for the I/O threads. Returns false if too many are queued; the
 * waiter (NULL means none) will then be woken. */
static bool queue_filling(struct embedded_stage *stage, struct waiter *waiter)
{
    struct embedded *embedded = embedded_of(stage->stage.store);
    struct io_pool *pool = &embedded->io;
    struct io_buffer *buffer = stage->filling;
    bool charged;

    assert_filling(stage);
    assert(buffer->length > 0);
    buffer->next = NULL;
    buffer->ends_sector = ends_sector(buffer);
    buffer->holders = stage->stage.wants_md5 ? 2 : 1;
    lock_acquire(&pool->lock);
    charged = io_buffer_charge_locked(pool, buffer, waiter);
    if (charged) {
        if (stage->queue_first)
            stage->queue_last->next = buffer;
        else
            stage->queue_first = buffer;
        stage->queue_last = buffer;
        stage->queued++;
        if (!stage->in_io) {
            stage->in_io = true;
            io_pool_add_locked(pool, &stage->job);
        }
        if (stage->stage.wants_md5)
            stage_hasher_add_locked(&embedded->hasher, stage, buffer);
    }
    lock_release(&pool->lock);
    stage->buffer_waiter = charged ? NULL : waiter;
    if (charged)
        stage->filling = NULL;
    return charged;
}

/* Returns the result so far; arms the waiter if the queue is long. */
static enum store_result check_queue(struct embedded_stage *stage, struct waiter *waiter)
{
    struct io_pool *pool = &embedded_of(stage->stage.store)->io;
    enum store_result result = STORE_OK;

    lock_acquire(&pool->lock);
    assert(!stage->waiter && (stage->state == STAGE_FILLING || stage->state == STAGE_FAILED));
    if (stage->state == STAGE_FAILED) {
        result = stage->result;
    } else if (stage->queued >= STAGE_QUEUED_MAX) {
        stage->waiter = waiter;
        result = STORE_WAIT;
    }
    lock_release(&pool->lock);
    return result;
}

/* Ensures that the buffer being filled has space. */
static enum store_result make_room(struct embedded_stage *stage, size_t coming,
                                   struct waiter *waiter)
{
    struct io_pool *pool = &embedded_of(stage->stage.store)->io;
    struct io_buffer *buffer = stage->filling;
    enum store_result result;

    if (buffer && !ends_sector(buffer)) {
        struct io_buffer *larger;

        if (buffer->length < buffer->size)
            return STORE_OK;
        larger = io_buffer_grow(pool, buffer);
        if (larger) {
            stage->filling = larger;
            return STORE_OK;
        }
    }
    if (buffer && !queue_filling(stage, waiter))
        return STORE_WAIT;
    result = check_queue(stage, waiter);
    if (!result && !admission_of_piece(embedded_of(stage->stage.store), coming))
        return STORE_FULL;
    if (!result && !begin_buffer(stage, coming, waiter))
        result = STORE_WAIT;
    return result;
}

enum store_result embedded_stage_write(struct stage *base, struct bytes data, struct waiter *waiter,
                                       size_t *ret_taken)
{
    struct embedded_stage *stage = (struct embedded_stage *)base;
    enum store_result result = STORE_OK;
    size_t taken = 0;

    while (taken < data.len && !result) {
        result = make_room(stage, data.len - taken, waiter);
        if (!result)
            taken += fill(stage, bytes_from(data, taken));
    }
    /* If too many are queued, a buffer that ends its sector remains until the next call. */
    if (!result && stage->filling &&
        (ends_sector(stage->filling) || stage->filling->account == IO_QUEUED))
        (void)queue_filling(stage, NULL);
    assert_filling(stage);
    *ret_taken = taken;
    return result;
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

    if (stage->filling && !queue_filling(stage, waiter))
        return STORE_WAIT;
    lock_acquire(&pool->lock);
    if (stage->state == STAGE_FILLING && !stage->first)
        stage->state = STAGE_DONE;
    if (stage->state == STAGE_FILLING) {
        stage->state = STAGE_WRITING;
        if (!stage->in_io) {
            stage->in_io = true;
            io_pool_add_locked(pool, &stage->job);
        }
    }
    if (stage->state == STAGE_DONE && !stage->in_hash)
        result = STORE_OK;
    else if (stage->state == STAGE_FAILED)
        result = stage->result;
    else
        stage->waiter = waiter;
    lock_release(&pool->lock);
    if (!result)
        make_array(stage);
    assert(result || !stage->filling);
    return result;
}

const struct piece *embedded_stage_pieces(const struct stage *base, size_t *ret_count)
{
    const struct embedded_stage *stage = (const struct embedded_stage *)base;

    assert(stage->array || stage->piece_count == 0);
    *ret_count = stage->piece_count;
    return stage->array;
}

void embedded_stage_close(struct stage *base)
{
    struct embedded_stage *stage = (struct embedded_stage *)base;
    struct io_pool *pool = &embedded_of(base->store)->io;
    bool busy;

    if (stage->buffer_waiter)
        io_buffer_forget(pool, stage->buffer_waiter);
    if (stage->filling)
        stage->filling->next = NULL;
    io_buffers_give(pool, stage->filling);
    lock_acquire(&pool->lock);
    while (stage->waking > 0)
        lock_wait(&pool->lock, &pool->woken, -1);
    assert(!stage->closed);
    stage->closed = true;
    stage->waiter = NULL;
    busy = stage->in_io || stage->in_hash;
    if (busy)
        atomic_fetch_add(&embedded_of(base->store)->ending_stages, 1);
    lock_release(&pool->lock);
    if (!busy)
        stage_end(stage); /* otherwise the last thread that uses it does, and it is counted */
}
