/* Salvages bytes of pieces, from the extents of one folder to the same places in another. */
#ifndef LAGRA_STORE_EMBEDDED_SALVAGE_PIECES_H
#define LAGRA_STORE_EMBEDDED_SALVAGE_PIECES_H

#include "store/store.h"

struct salvage_extent {
    uint32_t id;
    int from; /* -1: missing or damaged */
    int to;
};

struct salvage_pieces {
    int from; /* the folders extents/; -1: missing */
    int to;
    struct salvage_extent *list;
    size_t count;
    size_t capacity;
};

/* Copies the sectors with correct CRCs. Returns STORE_OK (also if bytes are lost), STORE_FULL,
 * STORE_IO (of the new folder). */
enum store_result salvage_copy_piece(struct salvage_pieces *pieces, const struct piece *piece);
/* Makes everything durable and closes the files. Returns STORE_OK, STORE_IO. */
enum store_result salvage_finish_pieces(struct salvage_pieces *pieces);

#endif
