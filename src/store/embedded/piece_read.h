/* Reads pieces, and verifies them before they are sent from their file. */
#ifndef LAGRA_STORE_EMBEDDED_PIECE_READ_H
#define LAGRA_STORE_EMBEDDED_PIECE_READ_H

#include "store/piece.h"

/* For the table of operations. */
enum store_result embedded_piece_read(struct store *store, const struct piece *piece,
                                      uint32_t offset, uint32_t length, void *to,
                                      struct waiter *waiter);
enum store_result embedded_piece_check(struct store *store, const struct piece *piece,
                                       uint32_t offset, uint32_t length,
                                       struct piece_file *ret_file, struct waiter *waiter);
void embedded_piece_give(struct store *store, const struct piece_file *file);

#endif
