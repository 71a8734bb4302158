/* See restore_batch.h. */
#include "admin/restore_batch.h"

#include <stdlib.h>

#include "base/codec.h"

struct piece_number {
    uint32_t extent; /* 0 if the slot is free */
    uint32_t number;
    uint64_t offset;
};

/* ---- batches ---- */

bool restoring_flush(struct restoring *r)
{
    if (r->batch.len > 0 && !r->is_cut)
        r->is_cut = !r->send(r, text_bytes(&r->batch));
    r->batch.len = 0;
    return !r->is_cut;
}

bool restoring_begin_entry(struct restoring *r, enum restore_entry entry, size_t bytes)
{
    if (r->batch.len + bytes + 64 > BATCH_BYTES && !restoring_flush(r))
        return false;
    encode_u8(&r->batch, (uint8_t)entry);
    return true;
}

bool restoring_add_partition(struct restoring *r, struct bytes key)
{
    if (!restoring_begin_entry(r, RESTORE_PARTITION, key.len))
        return false;
    encode_bytes(&r->batch, key);
    return true;
}

/* ---- pieces ---- */

/* Returns the slot of a piece, or the free slot for it. */
static struct piece_number *place_of(struct piece_number *pieces, size_t room,
                                     const struct piece *piece)
{
    size_t at = (size_t)((piece->offset / 4096 * 31 + piece->extent) * 0x9E3779B97F4A7C15u >> 20);

    for (;; at++) {
        struct piece_number *place = &pieces[at % room];

        if (place->extent == 0 ||
            (place->extent == piece->extent && place->offset == piece->offset))
            return place;
    }
}

static void grow(struct restoring *r)
{
    size_t room = r->piece_room > 0 ? 2 * r->piece_room : 1024;
    struct piece_number *pieces = xcalloc(room, sizeof *pieces);

    for (size_t i = 0; i < r->piece_room; i++) {
        const struct piece_number *old = &r->pieces[i];
        const struct piece piece = { .extent = old->extent, .offset = old->offset };

        if (old->extent != 0)
            *place_of(pieces, room, &piece) = *old;
    }
    free(r->pieces);
    r->pieces = pieces;
    r->piece_room = room;
}

enum store_result restoring_send_piece(struct restoring *r, const struct piece *piece)
{
    struct piece_number *place;
    enum store_result result;
    const struct piece_seal *seal = piece->seal;
    size_t seal_size;

    if (2 * r->piece_count >= r->piece_room)
        grow(r);
    place = place_of(r->pieces, r->piece_room, piece);
    if (place->extent != 0)
        return STORE_OK;
    *place = (struct piece_number){ piece->extent, (uint32_t)r->piece_count++, piece->offset };
    result = archive_piece(r->archive, piece, r->buffer);
    if (result)
        return result;
    /* with a store key: archive_piece() has decrypted it */
    if (seal && seal->store_key > 0)
        seal = NULL;
    seal_size = seal ? RESTORE_SEAL_SIZE(piece_sectors(piece)) : 0;
    if (!restoring_begin_entry(r, seal ? RESTORE_SEALED : RESTORE_PIECE, piece->length + seal_size))
        return STORE_BUSY;
    encode_bytes(&r->batch, bytes_of(r->buffer, piece->length));
    if (seal)
        encode_bytes(&r->batch, bytes_of(seal->salt, seal_size));
    r->bytes += piece->length;
    return STORE_OK;
}

void restoring_forget_pieces(struct restoring *r)
{
    r->piece_count = 0;
    if (r->piece_room > 0)
        memset(r->pieces, 0, r->piece_room * sizeof r->pieces[0]);
}

uint32_t restoring_piece_number(const struct restoring *r, const struct piece *piece)
{
    return place_of(r->pieces, r->piece_room, piece)->number;
}
