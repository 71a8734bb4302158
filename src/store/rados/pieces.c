/* Pieces: an object each, written whole before the commit that refers to it. */
#include <assert.h>
#include <stdlib.h>

#include "base/crc.h"
#include "base/log.h"
#include "store/rados/intents.h"
#include "store/rados/patience.h"
#include "store/rados/piece_label.h"
#include "store/rados/piece_reads.h"
#include "store/rados/rados_private.h"
#include "store/rados/staged.h"

/* Pieces of one stage that are being written at the same time. */
#define WRITING_MAX 2u

struct staged_piece {
    uint64_t number;
    uint32_t length;
    uint32_t sector_crc[PIECE_SECTORS_MAX];
};

struct rados_stage {
    struct stage base;
    struct partition owner;   /* its key on the heap */
    uint64_t number;          /* of the piece that is written next; 0: none yet */
    struct arrival *reserved; /* that is waited for to have it */
    struct arrival *awaited;  /* that was waited for last, and has not been taken; or NULL */
    uint64_t expected;        /* bytes still to come, as far as is known; 0: not known */
    char *buffer;             /* of the piece that is being filled */
    uint32_t filled, room;
    struct staged_piece *list;
    size_t count, capacity;
    struct arrival *writing[WRITING_MAX]; /* the oldest first */
    unsigned writing_count;
    enum store_result failed;
    struct piece *pieces; /* after stage_finish() */
};

static struct rados_stage *stage_of(struct stage *base)
{
    return (struct rados_stage *)(void *)base;
}

struct stage *rados_stage_open(struct store *base, struct partition partition, uint64_t length_hint)
{
    struct rados_stage *stage = xcalloc(1, sizeof *stage);

    stage->owner = (struct partition){ partition.space, xcopy(partition.key) };
    stage->base.store = base;
    stage->expected = length_hint == UINT64_MAX ? 0 : length_hint;
    return &stage->base;
}

/* ---- writing ---- */

/* Of one that has not come. Whoever was woken, and finds it so, has waited too long. */
static enum store_result wait_for(struct rados_stage *stage, struct arrival *arrival,
                                  struct waiter *waiter)
{
    if (stage->awaited == arrival) {
        stage->failed = STORE_SHORTAGE;
        return STORE_SHORTAGE;
    }
    stage->awaited = arrival;
    patience_wait(rados_of(stage->base.store)->patience, arrival, waiter);
    return STORE_WAIT;
}

/* Takes the answers that have come; waits for the oldest until at most so many are under way.
 * returns STORE_OK, STORE_WAIT, or why the stage has failed */
static enum store_result drain(struct rados_stage *stage, unsigned most, struct waiter *waiter)
{
    while (stage->writing_count > most) {
        struct arrival *oldest = stage->writing[0];
        enum port_result result;

        if (!arrival_has_come(oldest)) {
            if (waiter)
                return wait_for(stage, oldest, waiter);
            arrival_block(oldest);
        }
        stage->awaited = NULL;
        result = arrival_answer(oldest)->result;
        if (result && !stage->failed) {
            log_line(LOG_ERROR, "rados: a piece: %s", port_result_text(result));
            stage->failed = result == PORT_FULL ? STORE_FULL : STORE_IO;
        }
        arrival_drop(oldest);
        stage->writing_count--;
        memmove(stage->writing, stage->writing + 1,
                stage->writing_count * sizeof stage->writing[0]);
    }
    return stage->failed;
}

/* A number for the next piece. returns STORE_OK, STORE_WAIT, or why there is none */
static enum store_result take_number(struct rados_stage *stage, struct waiter *waiter)
{
    enum store_result result = STORE_OK;

    while (!result && stage->number == 0) {
        if (stage->reserved && waiter && !arrival_has_come(stage->reserved))
            return wait_for(stage, stage->reserved, waiter);
        if (stage->reserved)
            arrival_block(stage->reserved);
        stage->awaited = NULL;
        arrival_drop(stage->reserved);
        stage->reserved = NULL;
        result =
            intents_take(rados_of(stage->base.store)->intents, &stage->number, &stage->reserved);
        if (result == STORE_WAIT)
            result = STORE_OK;
    }
    return result;
}

static void send_piece(struct rados_stage *stage)
{
    struct rados *rados = rados_of(stage->base.store);
    struct port_op *op = arrival_op();
    char object[PIECE_OBJECT_SIZE];
    const struct piece_label label = { PIECE_STAGED, stage->filled, stage->owner };
    struct staged_piece *piece;

    assert(stage->writing_count < WRITING_MAX && stage->filled > 0 && stage->number > 0);
    if (stage->count == stage->capacity) {
        stage->capacity = stage->capacity ? 2 * stage->capacity : 4;
        stage->list = xrealloc(stage->list, stage->capacity * sizeof stage->list[0]);
    }
    piece = &stage->list[stage->count++];
    piece->number = stage->number;
    stage->number = 0;
    piece->length = stage->filled;
    for (uint32_t at = 0; at < stage->filled; at += PIECE_SECTOR_BYTES) {
        uint32_t rest = stage->filled - at;

        piece->sector_crc[at / PIECE_SECTOR_BYTES] =
            crc32c(0, stage->buffer + at, rest < PIECE_SECTOR_BYTES ? rest : PIECE_SECTOR_BYTES);
    }
    port_write(op, bytes_of(stage->buffer, stage->filled));
    port_set_label(op, piece_label_write(op->arena, &label));
    piece_object(shards_incarnation(rados->shards), piece->number, object);
    staged_add(rados->staged, piece->number, &label);
    stage->writing[stage->writing_count++] = arrival_send(rados->pieces, object, op);
    stage->filled = 0;
}

/* For one piece more. As drain() */
static enum store_result make_place(struct rados_stage *stage, struct waiter *waiter)
{
    enum store_result result = take_number(stage, waiter);

    return result ? result : drain(stage, WRITING_MAX - 1, waiter);
}

static bool is_piece_over(const struct rados_stage *stage, uint64_t at)
{
    return stage->filled == PIECE_MAX_BYTES ||
           (stage->filled > 0 && stage->base.cut > 0 &&
            (at == stage->base.cut || at == stage->base.cut_begin));
}

/* Room for at least one byte more. */
static void make_room(struct rados_stage *stage)
{
    uint64_t room = 2 * (uint64_t)stage->room;

    if (stage->filled < stage->room)
        return;
    if (room < PIECE_SECTOR_BYTES)
        room = PIECE_SECTOR_BYTES;
    if (stage->expected > room)
        room = stage->expected;
    stage->room = room < PIECE_MAX_BYTES ? (uint32_t)room : PIECE_MAX_BYTES;
    stage->buffer = xrealloc(stage->buffer, stage->room);
}

enum store_result rados_stage_write(struct stage *base, struct bytes data, struct waiter *waiter,
                                    size_t *ret_taken)
{
    struct rados_stage *stage = stage_of(base);
    struct md5_stream *md5 = &base->md5;
    struct bytes rest = data, taken;
    enum store_result result = stage->failed;

    assert(!stage->pieces);
    while (!result && rest.len > 0) {
        uint64_t at = base->taken + (data.len - rest.len);
        size_t take;

        if (is_piece_over(stage, at)) {
            result = make_place(stage, waiter);
            if (result)
                break;
            send_piece(stage);
        }
        make_room(stage);
        take = stage->room - stage->filled;
        if (take > rest.len)
            take = rest.len;
        if (base->cut > at && take > base->cut - at)
            take = (size_t)(base->cut - at);
        memcpy(stage->buffer + stage->filled, rest.ptr, take);
        stage->filled += (uint32_t)take;
        stage->expected -= take < stage->expected ? take : stage->expected;
        rest = bytes_from(rest, take);
    }
    *ret_taken = data.len - rest.len;
    taken = bytes_of(data.ptr, *ret_taken);
    if (base->wants_md5 && taken.len > 0)
        md5_update_many(&md5, &taken, 1);
    return result;
}

enum store_result rados_stage_finish(struct stage *base, struct waiter *waiter)
{
    struct rados_stage *stage = stage_of(base);
    enum store_result result;

    if (stage->pieces)
        return STORE_OK;
    if (stage->filled > 0) {
        result = make_place(stage, waiter);
        if (result)
            return result;
        send_piece(stage);
    }
    result = drain(stage, 0, waiter);
    if (result)
        return result;
    stage->pieces = xcalloc(stage->count + 1, sizeof stage->pieces[0]);
    for (size_t i = 0; i < stage->count; i++)
        stage->pieces[i] = (struct piece){
            .extent = shards_incarnation(rados_of(base->store)->shards),
            .length = stage->list[i].length,
            .offset = stage->list[i].number,
            .sector_crc = stage->list[i].sector_crc,
        };
    free(stage->buffer);
    stage->buffer = NULL;
    return STORE_OK;
}

const struct piece *rados_stage_pieces(const struct stage *base, size_t *ret_count)
{
    const struct rados_stage *stage = (const struct rados_stage *)(const void *)base;

    assert(stage->pieces);
    *ret_count = stage->count;
    return stage->pieces;
}

/* Ops of one client on one object keep their order: a piece that is still being written is deleted behind that. */
void rados_stage_close(struct stage *base)
{
    struct rados_stage *stage = stage_of(base);
    struct rados *rados = rados_of(base->store);

    for (unsigned i = 0; i < stage->writing_count; i++) {
        patience_cancel(rados->patience, stage->writing[i]);
        arrival_drop(stage->writing[i]);
    }
    if (stage->reserved)
        patience_cancel(rados->patience, stage->reserved);
    arrival_drop(stage->reserved);
    if (stage->number > 0)
        intents_settle(rados->intents, stage->number);
    for (size_t i = 0; i < stage->count; i++)
        staged_close(rados->staged, stage->list[i].number);
    xcopy_free(stage->owner.key);
    free(stage->buffer);
    free(stage->list);
    free(stage->pieces);
    free(stage);
}

/* ---- reading ---- */

/* Store invariant 5. data: of the sectors from `first` on */
static bool sectors_match(const struct piece *piece, struct bytes data, uint32_t first)
{
    for (uint32_t at = 0, sector = first; at < data.len; at += PIECE_SECTOR_BYTES, sector++) {
        size_t rest = data.len - at;

        if (crc32c(0, data.ptr + at, rest < PIECE_SECTOR_BYTES ? rest : PIECE_SECTOR_BYTES) !=
            piece->sector_crc[sector]) {
            log_line(LOG_ERROR, "rados: sector %u of piece %08x.%016llx is damaged", sector,
                     piece->extent, (unsigned long long)piece->offset);
            return false;
        }
    }
    return true;
}

/* Of what was read, the bytes that were wanted. */
static enum store_result wanted_bytes(const struct piece_read *read, const char *object,
                                      uint32_t length, struct bytes *ret_data)
{
    const struct port_op *op = arrival_answer(read->arrival);
    struct bytes data = op->result ? (struct bytes){ NULL, 0 } : op->first->rows[0].value;

    if (op->result && op->result != PORT_ABSENT)
        return STORE_IO;
    if (data.len < read->at || data.len - read->at < length) {
        log_line(LOG_ERROR, "rados: piece %s is missing, or too short", object);
        return STORE_CORRUPT;
    }
    *ret_data = bytes_of(data.ptr + read->at, length);
    return STORE_OK;
}

/* Whoever reads much at once reads on, and is spared going to the cluster for each part. */
static uint32_t with_ahead(const struct piece *piece, uint32_t begin, uint32_t length)
{
    uint32_t left = piece->length - begin;

    if (length < PIECE_AHEAD_LEAST)
        return length;
    return left < PIECE_AHEAD_BYTES ? left : PIECE_AHEAD_BYTES;
}

enum store_result rados_piece_read(struct store *base, const struct piece *piece, uint32_t offset,
                                   uint32_t length, void *to, struct waiter *waiter)
{
    struct rados *rados = rados_of(base);
    uint32_t first = offset / PIECE_SECTOR_BYTES;
    uint32_t begin = first * PIECE_SECTOR_BYTES;
    uint32_t end =
        (offset + length + PIECE_SECTOR_BYTES - 1) / PIECE_SECTOR_BYTES * PIECE_SECTOR_BYTES;
    char object[PIECE_OBJECT_SIZE];
    struct piece_read read;
    enum store_result result;
    struct bytes data;

    if (end > piece->length)
        end = piece->length;
    piece_object(piece->extent, piece->offset, object);
    read = piece_reads_take(rados->piece_reads, rados->pieces, object, begin, end - begin,
                            with_ahead(piece, begin, end - begin), waiter);
    if (!read.arrival)
        return read.is_late ? STORE_IO : STORE_WAIT;
    result = wanted_bytes(&read, object, end - begin, &data);
    if (!result && !sectors_match(piece, data, first))
        result = STORE_CORRUPT;
    if (!result)
        memcpy(to, data.ptr + (offset - begin), length);
    if (!result && offset + length == end)
        piece_reads_put_back(rados->piece_reads, object, end, read, end - begin);
    else
        arrival_drop(read.arrival);
    return result;
}
