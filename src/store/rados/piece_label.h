/* The label of a piece (port_set_label()), written with its bytes: which partition may refer to it first. If it is to be another
 * one, the label is changed before the commit, unless it says that the piece is left over: then it belongs to whoever
 * deletes it (leftovers.h). Any thread.
 *
 *   1 version (1), 1 state (enum piece_state), 4 be length of the piece, 16 space, key of the partition; 4 be CRC-32C of that */
#ifndef LAGRA_STORE_RADOS_PIECE_LABEL_H
#define LAGRA_STORE_RADOS_PIECE_LABEL_H

#include "store/store.h"

enum piece_state { PIECE_STAGED = 1, PIECE_LEFT_OVER };
struct piece_label {
    enum piece_state state;
    uint32_t length;
    struct partition owner;
};
struct bytes piece_label_write(struct arena *arena, const struct piece_label *label);
/* The key points into the row. False: it is damaged, or there is none. */
bool piece_label_read(struct bytes row, struct piece_label *ret_label);

#endif
