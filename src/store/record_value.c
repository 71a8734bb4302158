/* Encodes and decodes values; record_value.h describes them. */
#include "store/record_value.h"

#include <assert.h>

#include "base/codec.h"
#include "base/endian.h"
#include "store/keyring.h"

/* Minimum size of a piece in a value: three varints and one CRC. */
#define PIECE_BYTES_MIN 7
/* Maximum size of a piece without its CRCs. */
#define PIECE_HEAD_MAX  (5 + 5 + 10)

/* Writes whether a piece is encrypted, and its seal. */
static void encode_seal(struct text *out, const struct piece *piece)
{
    const struct piece_seal *seal = piece->seal;

    assert(!seal || seal->store_key <= KEYRING_MAX);
    encode_u8(out, seal ? (uint8_t)(1 + seal->store_key) : 0);
    if (!seal)
        return;
    encode_fixed(out, seal->salt, sizeof seal->salt);
    encode_fixed(out, seal->tags, piece_sectors(piece) * sizeof seal->tags[0]);
}

/* Returns the version that a value with this piece needs at least. */
static uint8_t version_of(const struct piece *piece)
{
    if (!piece->seal)
        return RECORD_VALUE_VERSION;
    return piece->seal->store_key > 0 ? RECORD_VALUE_VERSION_STORE_KEY
                                      : RECORD_VALUE_VERSION_ENCRYPTED;
}

struct bytes record_value_encode(struct arena *arena, struct bytes payload,
                                 const struct piece *pieces, size_t piece_count)
{
    size_t capacity = 1 + VARINT_BYTES_MAX + payload.len;
    uint8_t version = RECORD_VALUE_VERSION;
    struct text out;

    for (size_t i = 0; i < piece_count; i++) {
        uint32_t sectors = piece_sectors(&pieces[i]);

        capacity += PIECE_HEAD_MAX + sectors * sizeof(uint32_t) + 1;
        capacity += pieces[i].seal ? piece_seal_size(sectors) : 0;
        if (version < version_of(&pieces[i]))
            version = version_of(&pieces[i]);
    }
    text_init(&out, arena, capacity);
    encode_u8(&out, version);
    encode_u64(&out, piece_count);
    for (size_t i = 0; i < piece_count; i++) {
        const struct piece *piece = &pieces[i];

        assert(piece->length > 0 && piece->length <= PIECE_MAX_BYTES && piece->sector_crc);
        encode_u64(&out, piece->extent);
        encode_u64(&out, piece->length);
        encode_u64(&out, piece->offset);
        for (uint32_t s = 0; s < piece_sectors(piece); s++) {
            char crc[sizeof(uint32_t)];

            le32_put(crc, piece->sector_crc[s]);
            encode_fixed(&out, crc, sizeof crc);
        }
        if (version >= RECORD_VALUE_VERSION_ENCRYPTED)
            encode_seal(&out, piece);
    }
    text_add(&out, payload);
    assert(out.len <= capacity);
    return text_bytes(&out);
}

/* key_max: the largest number of a store key in this version */
static bool read_seal(struct decoder *from, struct arena *arena, uint32_t key_max,
                      struct piece *piece)
{
    uint32_t sectors = piece_sectors(piece);
    uint8_t is_encrypted = decode_u8(from);
    struct piece_seal *seal;

    if (from->bad || is_encrypted > 1 + key_max)
        return false;
    if (is_encrypted == 0)
        return true;
    if ((size_t)(from->end - from->at) < sizeof seal->salt + sectors * sizeof seal->tags[0])
        return false;
    seal = arena_alloc(arena, piece_seal_size(sectors));
    seal->store_key = is_encrypted - 1u;
    decode_fixed(from, seal->salt, sizeof seal->salt);
    decode_fixed(from, seal->tags, sectors * sizeof seal->tags[0]);
    piece->seal = seal;
    return true;
}

static bool read_piece(struct decoder *from, struct arena *arena, uint8_t version,
                       struct piece *ret_piece)
{
    uint64_t extent = decode_u64(from);
    uint64_t length = decode_u64(from);
    uint64_t offset = decode_u64(from);
    uint32_t *crc;
    uint32_t sectors;

    if (from->bad || extent > UINT32_MAX || length == 0 || length > PIECE_MAX_BYTES ||
        offset > INT64_MAX - PIECE_MAX_BYTES)
        return false;
    *ret_piece =
        (struct piece){ .extent = (uint32_t)extent, .length = (uint32_t)length, .offset = offset };
    sectors = piece_sectors(ret_piece);
    if ((size_t)(from->end - from->at) < sectors * sizeof *crc)
        return false;
    crc = arena_array(arena, sectors, sizeof *crc);
    for (uint32_t s = 0; s < sectors; s++) {
        char bytes[sizeof *crc];

        decode_fixed(from, bytes, sizeof bytes);
        crc[s] = le32_get(bytes);
    }
    ret_piece->sector_crc = crc;
    if (version == RECORD_VALUE_VERSION)
        return true;
    return read_seal(from, arena, version == RECORD_VALUE_VERSION_STORE_KEY ? KEYRING_MAX : 0,
                     ret_piece);
}

enum store_result record_value_decode(struct bytes value, struct arena *arena,
                                      struct bytes *ret_payload, const struct piece **ret_pieces,
                                      size_t *ret_count)
{
    struct piece *pieces = NULL;
    struct decoder from;
    uint64_t count;
    uint8_t version;

    decoder_init(&from, value);
    version = decode_u8(&from);
    if (version < RECORD_VALUE_VERSION || version > RECORD_VALUE_VERSION_STORE_KEY)
        return STORE_CORRUPT;
    count = decode_u64(&from);
    /* A corrupt count must not allocate memory for more pieces than the value has space for. */
    if (from.bad || count > value.len / PIECE_BYTES_MIN)
        return STORE_CORRUPT;
    if (count > 0)
        pieces = arena_array(arena, count, sizeof *pieces);
    for (uint64_t i = 0; i < count; i++)
        if (!read_piece(&from, arena, version, &pieces[i]))
            return STORE_CORRUPT;
    assert(from.at <= from.end);
    *ret_payload = bytes_of(from.at, (size_t)(from.end - from.at));
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
    size_t size = 1;

    assert(row.references > 0 && row.length <= PIECE_MAX_BYTES);
    to[0] = PIECE_ROW_VERSION;
    size += varint_put(to + size, row.length);
    size += varint_put(to + size, row.references);
    assert(size <= PIECE_ROW_SIZE_MAX);
    return size;
}

bool piece_row_read(struct bytes value, struct piece_row *ret_row)
{
    uint64_t length, references;
    struct decoder from;

    decoder_init(&from, value);
    if (decode_u8(&from) != PIECE_ROW_VERSION)
        return false;
    length = decode_u64(&from);
    references = decode_u64(&from);
    if (!decoder_ok(&from) || length > PIECE_MAX_BYTES || references == 0 || references > INT64_MAX)
        return false;
    *ret_row = (struct piece_row){ .length = (uint32_t)length, .references = references };
    return true;
}

#define CLOCK_ROW_SIZE_PLAIN 8

size_t clock_row_write(char to[CLOCK_ROW_SIZE_MAX], const struct clock_checkpoint *checkpoint)
{
    be64_put(to, checkpoint->bound);
    be64_put(to + 8, checkpoint->steps);
    be64_put(to + 16, checkpoint->pending);
    return checkpoint->steps || checkpoint->pending ? CLOCK_ROW_SIZE_MAX : CLOCK_ROW_SIZE_PLAIN;
}

bool clock_row_read(struct bytes value, struct clock_checkpoint *ret_checkpoint)
{
    struct clock_checkpoint checkpoint = { .bound = 0 };

    if (value.len != CLOCK_ROW_SIZE_PLAIN && value.len != CLOCK_ROW_SIZE_MAX)
        return false;
    checkpoint.bound = be64_get(value.ptr);
    if (value.len == CLOCK_ROW_SIZE_MAX) {
        checkpoint.steps = be64_get(value.ptr + 8);
        checkpoint.pending = be64_get(value.ptr + 16);
    }
    *ret_checkpoint = checkpoint;
    return true;
}
