/* Reads of pieces that are under way for callers who come again when they are woken. Any thread. */
#ifndef LAGRA_STORE_RADOS_PIECE_READS_H
#define LAGRA_STORE_RADOS_PIECE_READS_H

#include "store/rados/arrival.h"

/* So many answers that nobody came for are kept. */
#define PIECE_READS_KEPT 64u

struct piece_reads;
struct patience;
struct piece_reads *piece_reads_new(struct patience *patience);
void piece_reads_free(struct piece_reads *reads);
/* The answer of such a read, to be dropped; NULL: it was sent, and the waiter will be woken, or (*ret_is_late) it has waited
 * for that too long, logged. waiter NULL: waits. */
struct arrival *piece_reads_take(struct piece_reads *reads, struct port *pieces, const char *object,
                                 uint32_t offset, uint32_t length, struct waiter *waiter,
                                 bool *ret_is_late);

#endif
