/* Batches of what restore_read.c sends: entries (restore_state.h), and the pieces of a partition,
 * each of which is sent once and has a number. */
#ifndef LAGRA_ADMIN_RESTORE_BATCH_H
#define LAGRA_ADMIN_RESTORE_BATCH_H

#include "admin/restore_read.h"
#include "admin/restore_state.h"

#define BATCH_BYTES ((size_t)4 << 20)

/* Sends the batch. Returns false if sending has failed. */
bool restoring_flush(struct restoring *r);
/* Starts an entry, after sending the batch if the entry does not fit. bytes: approximate size.
 * Returns like restoring_flush(). */
bool restoring_begin_entry(struct restoring *r, enum restore_entry entry, size_t bytes);
/* Starts a partition. Returns like restoring_flush(). */
bool restoring_add_partition(struct restoring *r, struct bytes key);
/* Sends a piece of the selected partition, unless it was sent before. Returns like
 * archive_piece(); STORE_BUSY if sending failed. */
enum store_result restoring_send_piece(struct restoring *r, const struct piece *piece);
/* Starts the numbers again, for another partition. */
void restoring_forget_pieces(struct restoring *r);
/* Returns the number of a piece that was sent. */
uint32_t restoring_piece_number(const struct restoring *r, const struct piece *piece);

#endif
