/* Reads of pieces that are under way for callers who come again when they are woken. Any thread. */
#ifndef LAGRA_STORE_RADOS_PIECE_READS_H
#define LAGRA_STORE_RADOS_PIECE_READS_H

#include "store/rados/arrival.h"

/* So many answers that nobody came for are kept. */
#define PIECE_READS_KEPT  64u
/* Who reads a piece in its order is given so many bytes at once, while only so many reads are kept. */
#define PIECE_AHEAD_BYTES (1u << 20)
#define PIECE_AHEAD_LEAST (64u << 10) /* that he asks for */
#define PIECE_AHEAD_READS 32u

struct piece_reads;
struct patience;
struct piece_reads *piece_reads_new(struct patience *patience);
void piece_reads_free(struct piece_reads *reads);
struct piece_read {
    struct arrival *arrival; /* to be dropped, or put back */
    uint32_t at;  /* what was asked for begins so far behind the beginning of its bytes */
    bool is_late; /* no arrival: the waiter has waited too long, logged */
};
/* The answer of such a read. No arrival: it was sent, and the waiter will be woken, or it is late. waiter NULL: waits.
 * length  that is wanted; most: that may be read at once, for who goes on behind it */
struct piece_read piece_reads_take(struct piece_reads *reads, struct port *pieces,
                                   const char *object, uint32_t offset, uint32_t length,
                                   uint32_t most, struct waiter *waiter);
/* Instead of dropping it: so many of its bytes, up to `offset`, have been taken. What is left is for who reads on there. */
void piece_reads_put_back(struct piece_reads *reads, const char *object, uint32_t offset,
                          struct piece_read read, uint32_t taken);

#endif
