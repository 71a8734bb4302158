/* Decides which changes are allowed while the disk is full. */
#ifndef LAGRA_STORE_EMBEDDED_ADMISSION_H
#define LAGRA_STORE_EMBEDDED_ADMISSION_H

#include "store/store_private.h"

struct embedded;

/* Checks that the disk has space for a commit. Otherwise the commit must free at least as much as
 * it writes: it deletes records or frees pieces, and puts little; or it replaces records by ones
 * that are at most a few bytes larger, such as those of a lease.
 *
 * Returns STORE_OK
 *         STORE_FULL
 *         STORE_WAIT  the record to be replaced is not in memory
 *         STORE_CORRUPT, STORE_IO. Thread-safe. decision: 256 */
enum store_result admission_of_commit(struct embedded *embedded, const struct commit_part *parts,
                                      size_t count, struct store_access access);
/* Returns true if the disk has space for this many bytes of a piece. Thread-safe. */
bool admission_of_piece(struct embedded *embedded, uint64_t bytes);

#endif
