/* Describes a body by the pieces that it consists of: what an owner sends, instead of the body, to a
 * front end that can read the files of its cell (direct.h). The entries, in order, make up the body. Pure.
 *
 *   u8      version (1)
 *   entries, each (base/codec.h):
 *     u8 1  bytes of a piece: extent, offset, length, skip, take, then one CRC-32C of 4 bytes
 *           (big-endian) for each sector of LISTED_SECTOR_BYTES in offset..offset+length; the last
 *           sector may be short. The body gets `take` bytes after the first `skip`; there are no
 *           sectors before or after them
 *     u8 2  zeros: take
 *     u8 3  bytes: the bytes themselves
 *
 * A list names files only by numbers. The reader trusts nothing else in it either: all bounds are
 * checked before any entry is used, and the sums before any byte is. */
#ifndef LAGRA_CLUSTER_PIECE_LIST_H
#define LAGRA_CLUSTER_PIECE_LIST_H

#include "base/codec.h"

/* Bounds of a list; an owner sends a body that exceeds one of them as usual. */
#define PIECE_LIST_BYTES_MAX (192u << 10)
#define PIECE_LIST_COUNT_MAX 4096u
#define PIECE_LIST_BODY_MAX  (1ull << 30)
/* Sizes of the embedded store, which cluster/ does not know; the writer asserts that they match. */
#define LISTED_SECTOR_BYTES  (64u << 10)
#define LISTED_PIECE_BYTES   (4u << 20)
#define LISTED_FILE_BYTES    (1ull << 30)

enum listed_kind { LISTED_PIECE = 1, LISTED_ZEROS = 2, LISTED_BYTES = 3 };

struct listed {
    enum listed_kind kind;
    uint64_t take; /* bytes of the body, at least 1 */
    /* LISTED_PIECE */
    uint32_t extent;
    uint32_t length; /* of the sectors, 1..LISTED_PIECE_BYTES */
    uint32_t skip;   /* less than a sector */
    uint64_t offset; /* of the first sector in the file */
    const uint8_t *sums;
    /* LISTED_BYTES */
    const char *bytes;
};

/* Starts a list in an empty text. */
void piece_list_start(struct text *out);
/* Adds an entry. `sums` has one sum per sector. */
void piece_list_add_piece(struct text *out, const struct listed *piece, const uint32_t *sums);
void piece_list_add_zeros(struct text *out, uint64_t take);
void piece_list_add_bytes(struct text *out, struct bytes bytes);

/* Returns true if the list is valid and makes up a body of this length. */
bool piece_list_is_valid(struct bytes list, uint64_t length);
/* Starts to read a valid list. */
void piece_list_open(struct decoder *in, struct bytes list);
/* Reads the next entry, which points into the list. Returns false at the end. */
bool piece_list_next(struct decoder *in, struct listed *ret_listed);
/* Returns the sum of a sector of a piece. */
static inline uint32_t listed_sum(const struct listed *piece, uint32_t sector)
{
    return be32_get(piece->sums + 4 * (size_t)sector);
}
static inline uint32_t listed_sectors(const struct listed *piece)
{
    return (piece->length + LISTED_SECTOR_BYTES - 1) / LISTED_SECTOR_BYTES;
}

#endif
