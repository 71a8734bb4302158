/* Reads a list of pieces (cluster/piece_list.h), as a front end gets it from an owner. The input's first two bytes are the length
 * of the body. A valid list survives being written and read again, and its entries stay within their bounds. */
#include <stdlib.h>

#include "cluster/piece_list.h"
#include "fuzz.h"

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void write_piece(struct text *out, const struct listed *piece)
{
    uint32_t sums[LISTED_PIECE_BYTES / LISTED_SECTOR_BYTES];

    require(piece->offset + piece->length <= LISTED_FILE_BYTES &&
            piece->length <= LISTED_PIECE_BYTES);
    require(piece->skip + piece->take <= piece->length);
    for (uint32_t i = 0; i < listed_sectors(piece); i++)
        sums[i] = listed_sum(piece, i);
    piece_list_add_piece(out, piece, sums);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new(1 << 20);
    struct bytes list = size > 2 ? bytes_of(data + 2, size - 2) : bytes_of("", 0);
    uint64_t length = size > 1 ? (uint64_t)data[0] << 8 | data[1] : 0, sum = 0;
    struct listed listed;
    struct decoder in;
    struct text out;

    if (piece_list_is_valid(list, length)) {
        text_init(&out, arena, 0);
        piece_list_start(&out);
        piece_list_open(&in, list);
        while (piece_list_next(&in, &listed)) {
            sum += listed.take;
            if (listed.kind == LISTED_PIECE)
                write_piece(&out, &listed);
            else if (listed.kind == LISTED_BYTES)
                piece_list_add_bytes(&out, bytes_of(listed.bytes, (size_t)listed.take));
            else
                piece_list_add_zeros(&out, listed.take);
        }
        require(sum == length && piece_list_is_valid(text_bytes(&out), length));
    }
    arena_free(arena);
    return 0;
}
