/* Values made and taken apart; the form is drawn in record_value.h. */
#include "store/record_value.h"

#include <assert.h>

/* Most bytes of a piece in a value without its CRCs: three varints. */
#define PIECE_HEAD_MAX (5 + 5 + 10)

static char *put_varint(char *to, uint64_t value)
{
    while (value >= 0x80) {
        *to++ = (char)(value | 0x80);
        value >>= 7;
    }
    *to++ = (char)value;
    return to;
}

/* Moves *at past the varint; false when it is cut or too long. */
static bool get_varint(const char **at, const char *end, uint64_t max, uint64_t *ret_value)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
        uint8_t byte = (uint8_t) * (*at)++;

        if (shift == 63 && byte > 1)
            return false;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *ret_value = value;
            return value <= max;
        }
    }
    return false;
}

struct bytes record_value_encode(struct arena *arena, struct bytes payload,
                                 const struct piece *pieces, size_t piece_count)
{
    size_t capacity = 1 + 10 + payload.len;
    char *start;
    char *to;

    for (size_t i = 0; i < piece_count; i++)
        capacity += PIECE_HEAD_MAX + piece_sectors(&pieces[i]) * sizeof(uint32_t);
    start = arena_bytes(arena, capacity);
    to = start;
    *to++ = RECORD_VALUE_VERSION;
    to = put_varint(to, piece_count);
    for (size_t i = 0; i < piece_count; i++) {
        const struct piece *piece = &pieces[i];

        assert(piece->length > 0 && piece->length <= PIECE_MAX_BYTES);
        to = put_varint(to, piece->extent);
        to = put_varint(to, piece->length);
        to = put_varint(to, piece->offset);
        for (uint32_t s = 0; s < piece_sectors(piece); s++)
            for (int shift = 0; shift < 32; shift += 8)
                *to++ = (char)(piece->sector_crc[s] >> shift);
    }
    if (payload.len > 0)
        memcpy(to, payload.ptr, payload.len);
    to += payload.len;
    assert((size_t)(to - start) <= capacity);
    return bytes_of(start, (size_t)(to - start));
}

static bool read_piece(const char **at, const char *end, struct arena *arena,
                       struct piece *ret_piece)
{
    uint64_t extent, length, offset;
    uint32_t *crc;
    uint32_t sectors;

    if (!get_varint(at, end, UINT32_MAX, &extent) ||
        !get_varint(at, end, PIECE_MAX_BYTES, &length) || length == 0 ||
        !get_varint(at, end, INT64_MAX - PIECE_MAX_BYTES, &offset))
        return false;
    *ret_piece =
        (struct piece){ .extent = (uint32_t)extent, .length = (uint32_t)length, .offset = offset };
    sectors = piece_sectors(ret_piece);
    if ((size_t)(end - *at) < sectors * sizeof *crc)
        return false;
    crc = arena_array(arena, sectors, sizeof *crc);
    for (uint32_t s = 0; s < sectors; s++)
        for (int shift = 0; shift < 32; shift += 8)
            crc[s] |= (uint32_t)(uint8_t) * (*at)++ << shift;
    ret_piece->sector_crc = crc;
    return true;
}

enum store_result record_value_decode(struct bytes value, struct arena *arena,
                                      struct bytes *ret_payload, const struct piece **ret_pieces,
                                      size_t *ret_count)
{
    const char *at = value.ptr;
    const char *end = at + value.len;
    struct piece *pieces = NULL;
    uint64_t count;

    if (value.len < 2 || *at++ != RECORD_VALUE_VERSION)
        return STORE_CORRUPT;
    /* A piece takes 7 bytes at least, so a count from a damaged value cannot be huge. */
    if (!get_varint(&at, end, value.len / 7, &count))
        return STORE_CORRUPT;
    if (count > 0)
        pieces = arena_array(arena, count, sizeof *pieces);
    for (uint64_t i = 0; i < count; i++)
        if (!read_piece(&at, end, arena, &pieces[i]))
            return STORE_CORRUPT;
    *ret_payload = bytes_of(at, (size_t)(end - at));
    *ret_pieces = pieces;
    *ret_count = count;
    return STORE_OK;
}

enum store_result record_value_read(struct bytes value, struct arena *arena,
                                    struct record *ret_record)
{
    struct bytes payload;
    const struct piece *pieces;
    size_t count;
    enum store_result result = record_value_decode(value, arena, &payload, &pieces, &count);

    if (result)
        return result;
    ret_record->value = arena_copy(arena, payload);
    ret_record->pieces = pieces;
    ret_record->piece_count = count;
    return STORE_OK;
}

size_t piece_row_write(char to[PIECE_ROW_SIZE_MAX], struct piece_row row)
{
    char *end = to;

    assert(row.references > 0);
    *end++ = PIECE_ROW_VERSION;
    end = put_varint(end, row.length);
    end = put_varint(end, row.references);
    return (size_t)(end - to);
}

bool piece_row_read(struct bytes value, struct piece_row *ret_row)
{
    const char *at = value.ptr;
    const char *end = at + value.len;
    uint64_t length, references;

    if (value.len < 3 || *at++ != PIECE_ROW_VERSION)
        return false;
    if (!get_varint(&at, end, PIECE_MAX_BYTES, &length) ||
        !get_varint(&at, end, INT64_MAX, &references) || at != end || references == 0)
        return false;
    *ret_row = (struct piece_row){ .length = (uint32_t)length, .references = references };
    return true;
}
