/* Stages and reads pieces in memory. All bytes are taken at once, so waiters are never needed. */
#include "store/memory/memory_private.h"

#include <assert.h>
#include <stdlib.h>

#include "base/crc.h"
#include "base/log.h"

/* The first buffer of a stream of unknown length. */
#define ROOM_MIN_BYTES (64u << 10)

struct memory_stage {
    struct stage base;
    uint64_t expected; /* bytes still to come, if known; 0 means unknown */
    struct memory_piece **list;
    size_t count;
    size_t capacity;
    uint32_t room;        /* capacity of the last piece's buffer */
    struct piece *pieces; /* set by stage_finish() */
};

static struct memory_store *store_of(struct store *base)
{
    return (struct memory_store *)(void *)base;
}

static struct memory_stage *stage_of(struct stage *base)
{
    return (struct memory_stage *)(void *)base;
}

struct stage *memory_stage_open(struct store *base, uint64_t length_hint)
{
    struct memory_store *store = store_of(base);
    struct memory_stage *stage = xcalloc(1, sizeof *stage);

    stage->base.store = base;
    stage->expected = length_hint == UINT64_MAX ? 0 : length_hint;
    lock_acquire(&store->lock);
    store->stage_count++;
    lock_release(&store->lock);
    return &stage->base;
}

static void encrypt(const struct stage *stage, struct memory_piece *piece)
{
    struct data_cipher *cipher;

    piece->seal = piece_seal_new(stage, PIECE_SECTORS_MAX, &cipher);
    for (uint32_t at = 0, sector = 0; at < piece->length; at += PIECE_SECTOR_BYTES, sector++) {
        uint32_t rest = piece->length - at;

        data_cipher_seal(cipher, sector, piece->data + at,
                         rest < PIECE_SECTOR_BYTES ? rest : PIECE_SECTOR_BYTES,
                         piece->seal->tags[sector]);
    }
    data_cipher_free(cipher);
}

/* Completes a piece: encrypts it, computes its CRCs and trims its buffer. */
static void complete(struct memory_stage *stage, struct memory_piece *piece)
{
    if (stage->base.encrypts)
        encrypt(&stage->base, piece);
    for (uint32_t at = 0, sector = 0; at < piece->length; at += PIECE_SECTOR_BYTES, sector++) {
        uint32_t rest = piece->length - at;

        piece->sector_crc[sector] =
            crc32c(0, piece->data + at, rest < PIECE_SECTOR_BYTES ? rest : PIECE_SECTOR_BYTES);
    }
    if (stage->room > piece->length)
        piece->data = xrealloc(piece->data, piece->length);
    stage->room = piece->length;
}

static struct memory_piece *add_piece(struct memory_stage *stage)
{
    if (stage->count == stage->capacity) {
        stage->capacity = stage->capacity ? 2 * stage->capacity : 4;
        stage->list = xrealloc(stage->list, stage->capacity * sizeof stage->list[0]);
    }
    stage->room = 0;
    assert(stage->count < stage->capacity);
    return stage->list[stage->count++] = memory_piece_new();
}

/* Returns the piece to write to, with space for at least one byte. at: bytes written so far */
static struct memory_piece *current_piece(struct memory_stage *stage, uint64_t at)
{
    struct memory_piece *piece = stage->count > 0 ? stage->list[stage->count - 1] : NULL;
    uint64_t room;

    if (piece && (piece->length == PIECE_MAX_BYTES || at == stage->base.cut ||
                  (stage->base.cut > 0 && at == stage->base.cut_begin))) {
        complete(stage, piece);
        piece = NULL;
    }
    if (!piece)
        piece = add_piece(stage);
    if (piece->length < stage->room)
        return piece;
    room = 2 * (uint64_t)stage->room;
    if (room < ROOM_MIN_BYTES)
        room = ROOM_MIN_BYTES;
    if (stage->expected > 0)
        room = piece->length + stage->expected;
    stage->room = room < PIECE_MAX_BYTES ? (uint32_t)room : PIECE_MAX_BYTES;
    piece->data = xrealloc(piece->data, stage->room);
    assert(piece->length < stage->room);
    return piece;
}

enum store_result memory_stage_write(struct stage *base, struct bytes data, struct waiter *waiter,
                                     size_t *ret_taken)
{
    struct memory_stage *stage = stage_of(base);
    struct md5_stream *md5 = &base->md5;
    struct bytes rest = data;

    (void)waiter;
    assert(!stage->pieces);
    if (base->wants_md5)
        md5_update_many(&md5, &data, 1);
    while (rest.len > 0) {
        uint64_t at = base->taken + (data.len - rest.len);
        struct memory_piece *piece = current_piece(stage, at);
        size_t room = stage->room - piece->length;
        size_t take = rest.len < room ? rest.len : room;

        if (base->cut > at && take > base->cut - at)
            take = (size_t)(base->cut - at);

        memcpy(piece->data + piece->length, rest.ptr, take);
        piece->length += (uint32_t)take;
        assert(take > 0 && piece->length <= stage->room);
        stage->expected -= take < stage->expected ? take : stage->expected;
        rest = bytes_from(rest, take);
    }
    *ret_taken = data.len;
    return STORE_OK;
}

enum store_result memory_stage_finish(struct stage *base, struct waiter *waiter)
{
    struct memory_stage *stage = stage_of(base);
    struct memory_store *store = store_of(base->store);

    (void)waiter;
    if (stage->pieces)
        return STORE_OK;
    if (stage->count > 0)
        complete(stage, stage->list[stage->count - 1]);
    lock_acquire(&store->lock);
    for (size_t i = 0; i < stage->count; i++)
        memory_piece_add(&store->pieces, stage->list[i]);
    lock_release(&store->lock);

    stage->pieces = xcalloc(stage->count, sizeof stage->pieces[0]);
    for (size_t i = 0; i < stage->count; i++)
        stage->pieces[i] = (struct piece){
            .length = stage->list[i]->length,
            .offset = stage->list[i]->id,
            .sector_crc = stage->list[i]->sector_crc,
            .seal = stage->list[i]->seal,
        };
    return STORE_OK;
}

const struct piece *memory_stage_pieces(const struct stage *base, size_t *ret_count)
{
    const struct memory_stage *stage = (const struct memory_stage *)(const void *)base;

    assert(stage->pieces);
    *ret_count = stage->count;
    return stage->pieces;
}

void memory_stage_close(struct stage *base)
{
    struct memory_stage *stage = stage_of(base);
    struct memory_store *store = store_of(base->store);
    struct memory_piece *list = NULL;

    lock_acquire(&store->lock);
    assert(store->stage_count > 0);
    store->stage_count--;
    for (size_t i = 0; i < stage->count; i++) {
        if (stage->pieces) {
            memory_piece_unstage(&store->pieces, stage->list[i], &list);
        } else {
            stage->list[i]->next = list;
            list = stage->list[i];
        }
    }
    lock_release(&store->lock);
    memory_pieces_free(list);
    free(stage->list);
    free(stage->pieces);
    explicit_bzero(base->key, sizeof base->key);
    free(stage);
}

/* Returns the piece, which its reader's snapshot keeps, or NULL. */
static const struct memory_piece *find_piece(struct memory_store *store, const struct piece *piece)
{
    const struct memory_piece *found;

    lock_acquire(&store->lock);
    found = memory_piece_find(&store->pieces, piece->offset);
    lock_release(&store->lock);
    if (found && piece->extent == 0 && found->length == piece->length)
        return found;
    log_line(LOG_ERROR, "memory store: there is no piece %u/%llu of %u bytes", piece->extent,
             (unsigned long long)piece->offset, piece->length);
    return NULL;
}

/* Checks all sectors in the range (store invariant 5). */
static bool sectors_match(const struct piece *piece, const char *data, uint32_t offset,
                          uint32_t length)
{
    for (uint32_t sector = offset / PIECE_SECTOR_BYTES;
         (uint64_t)sector * PIECE_SECTOR_BYTES < (uint64_t)offset + length; sector++) {
        uint32_t start = sector * PIECE_SECTOR_BYTES;
        uint32_t rest = piece->length - start;

        if (crc32c(0, data + start, rest < PIECE_SECTOR_BYTES ? rest : PIECE_SECTOR_BYTES) !=
            piece->sector_crc[sector]) {
            log_line(LOG_ERROR, "memory store: sector %u of piece %llu is corrupt", sector,
                     (unsigned long long)piece->offset);
            return false;
        }
    }
    return true;
}

enum store_result memory_piece_read(struct store *base, const struct piece *piece, uint32_t offset,
                                    uint32_t length, void *to, struct waiter *waiter)
{
    const struct memory_piece *found = find_piece(store_of(base), piece);

    (void)waiter;
    if (!found || !sectors_match(piece, found->data, offset, length))
        return STORE_CORRUPT;
    memcpy(to, found->data + offset, length);
    return STORE_OK;
}
