/* See piece_list.h. */
#include "cluster/piece_list.h"

#include <assert.h>

#define VERSION     1
#define SUM_BYTES   4u
#define BLOCK_BYTES 4096u /* pieces start at multiples of it; the first block is a file's header */

void piece_list_start(struct text *out)
{
    encode_u8(out, VERSION);
}

void piece_list_add_piece(struct text *out, const struct listed *piece, const uint32_t *sums)
{
    encode_u8(out, LISTED_PIECE);
    encode_u64(out, piece->extent);
    encode_u64(out, piece->offset);
    encode_u64(out, piece->length);
    encode_u64(out, piece->skip);
    encode_u64(out, piece->take);
    for (uint32_t i = 0; i < listed_sectors(piece); i++) {
        char sum[SUM_BYTES];

        be32_put(sum, sums[i]);
        encode_fixed(out, sum, sizeof sum);
    }
}

void piece_list_add_zeros(struct text *out, uint64_t take)
{
    encode_u8(out, LISTED_ZEROS);
    encode_u64(out, take);
}

void piece_list_add_bytes(struct text *out, struct bytes bytes)
{
    encode_u8(out, LISTED_BYTES);
    encode_bytes(out, bytes);
}

/* ---- reading ---- */

/* Returns true if the fields of a piece are valid and its sectors exactly cover the bytes taken. */
static bool is_possible(const struct listed *piece)
{
    uint64_t end = piece->skip + piece->take; /* both were read as 32 bits */

    return piece->length >= 1 && piece->length <= LISTED_PIECE_BYTES && piece->take >= 1 &&
           piece->skip < LISTED_SECTOR_BYTES && end <= piece->length &&
           piece->length - end < LISTED_SECTOR_BYTES &&
           (end - 1) / LISTED_SECTOR_BYTES == (piece->length - 1) / LISTED_SECTOR_BYTES &&
           piece->offset >= BLOCK_BYTES && piece->offset % BLOCK_BYTES == 0 &&
           piece->offset <= LISTED_FILE_BYTES && piece->length <= LISTED_FILE_BYTES - piece->offset;
}

static void read_piece(struct decoder *in, struct listed *piece)
{
    size_t size;

    piece->extent = decode_u32(in);
    piece->offset = decode_u64(in);
    piece->length = decode_u32(in);
    piece->skip = decode_u32(in);
    piece->take = decode_u32(in);
    if (in->bad || !is_possible(piece)) {
        in->bad = true;
        return;
    }
    size = (size_t)listed_sectors(piece) * SUM_BYTES;
    if ((size_t)(in->end - in->at) < size) {
        in->bad = true;
        return;
    }
    piece->sums = in->at;
    in->at += size;
}

bool piece_list_next(struct decoder *in, struct listed *ret_listed)
{
    struct listed listed = { .take = 0 };
    struct bytes bytes;

    if (in->bad || in->at == in->end)
        return false;
    listed.kind = (enum listed_kind)decode_u8(in);
    if (listed.kind == LISTED_PIECE) {
        read_piece(in, &listed);
    } else if (listed.kind == LISTED_ZEROS) {
        listed.take = decode_u64(in);
    } else if (listed.kind == LISTED_BYTES) {
        bytes = decode_bytes(in);
        listed.take = bytes.len;
        listed.bytes = bytes.ptr;
    } else {
        in->bad = true;
    }
    in->bad = in->bad || listed.take == 0 || listed.take > PIECE_LIST_BODY_MAX;
    *ret_listed = listed;
    return !in->bad;
}

void piece_list_open(struct decoder *in, struct bytes list)
{
    decoder_init(in, list);
    if (decode_u8(in) != VERSION)
        in->bad = true;
}

bool piece_list_is_valid(struct bytes list, uint64_t length)
{
    struct listed listed;
    struct decoder in;
    uint64_t sum = 0;
    unsigned count = 0;

    if (list.len > PIECE_LIST_BYTES_MAX || length == 0 || length > PIECE_LIST_BODY_MAX)
        return false;
    piece_list_open(&in, list);
    while (piece_list_next(&in, &listed)) {
        sum += listed.take; /* at most PIECE_LIST_COUNT_MAX times PIECE_LIST_BODY_MAX */
        if (++count > PIECE_LIST_COUNT_MAX || sum > length)
            return false;
    }
    return decoder_ok(&in) && sum == length;
}
