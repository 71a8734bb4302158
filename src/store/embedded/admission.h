/* What may go on while the disk is full. */
#ifndef LAGRA_STORE_EMBEDDED_ADMISSION_H
#define LAGRA_STORE_EMBEDDED_ADMISSION_H

#include "store/store_private.h"

struct embedded;

/* Whether there is room for what a commit writes. When there is not, whether it gives back at least as
 * much: it deletes or frees pieces, and puts little; or what it puts is no larger than what stands there,
 * but for a few bytes, as those of a lease.
 * returns STORE_OK
 *         STORE_FULL
 *         STORE_WAIT  what stands there is not in memory
 *         STORE_CORRUPT, STORE_IO. Any thread. decision: 256 */
enum store_result admission_of_commit(struct embedded *embedded, const struct commit_part *parts,
                                      size_t count, struct store_access access);
/* Whether there is room for so many bytes of a piece. Any thread. */
bool admission_of_piece(struct embedded *embedded, uint64_t bytes);

#endif
