/* Reads pieces, and verifies them before they are sent from their file. */
#ifndef LAGRA_STORE_EMBEDDED_PIECE_READ_H
#define LAGRA_STORE_EMBEDDED_PIECE_READ_H

#include "store/piece.h"
#include "store/store_private.h"

/* For the table of operations. */
enum store_result embedded_piece_read(struct store *store, const struct piece *piece,
                                      uint32_t offset, uint32_t length, void *to,
                                      struct waiter *waiter);
enum store_result embedded_piece_check(struct store *store, const struct piece *piece,
                                       uint32_t offset, uint32_t length,
                                       struct piece_file *ret_file, struct waiter *waiter);
void embedded_piece_give(struct store *store, const struct piece_file *file);
bool embedded_piece_is_lent(struct store *store, uint32_t extent);

/* Records that are read one after another in key order, each once (the texts of messages): the
 * first one not in memory brings the following ones into memory too (record_cache.h), so that a
 * block is read and a level of files searched for many of them at once. */

/* For the table of operations. */
enum store_result embedded_get_ahead(struct read_view *snapshot, struct bytes key, struct bytes end,
                                     struct arena *arena, struct record *ret_record);

#endif
