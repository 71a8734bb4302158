/* Writes the pieces of a partition that is being restored (restore_state.h). A piece with the key
 * of a customer is stored as it is, with its seal. Other pieces are encrypted if the store is. */
#ifndef LAGRA_ADMIN_RESTORE_PIECES_H
#define LAGRA_ADMIN_RESTORE_PIECES_H

#include "admin/restore_state.h"

/* Sets the problem of the restore, unless it has one. Returns false. */
bool restore_fail(struct restore *r, const char *problem);
/* Sets the problem that corresponds to a result. Returns false. */
bool restore_fail_store(struct restore *r, enum store_result result);
/* Writes the next piece of the partition. seal: its salt and tags; ptr NULL if it has none. Returns
 * false with the problem set. */
bool restore_add_piece(struct restore *r, struct bytes data, struct bytes seal);
/* Makes the pieces durable, and lists them in the order in which they were added. Returns false
 * with the problem set. */
bool restore_finish_pieces(struct restore *r);
/* Ends the pieces of the partition. */
void restore_close_pieces(struct restore *r);

#endif
