/* A load that tells whether commits are atomic and nothing is lost: each commit changes two
 * partitions. In the one it replaces a stream of pieces and two records, in both families; in the
 * other a record; and an index record, a counter, and a deferred task. All tell one number,
 * which rises by 1. */
#ifndef LAGRA_TESTS_STORE_CONFORMANCE_NUMBERS_H
#define LAGRA_TESTS_STORE_CONFORMANCE_NUMBERS_H

#include "conformance.h"

/* Commits the number to the fixture's partition and another. Any result of the store's
 * functions. */
enum store_result numbers_commit(struct fixture *fixture, uint64_t number, uint64_t *ret_sequence);
/* The number there; 0: none yet. */
uint64_t numbers_newest(struct fixture *fixture);
/* As above, and asserts that all records tell it, that the stream is right, and that no bytes but
 * those of the stream are referred to. */
uint64_t numbers_check(struct fixture *fixture);

#endif
