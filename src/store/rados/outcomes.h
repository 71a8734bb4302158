/* Sequences of the store: what became of each commit.
 *
 * A commit has an odd one, from its beginning. Once it is known to be durable, the even one behind it stands for
 * that; snapshots have even ones, so theirs are settled always. The outcomes of commits that failed are
 * remembered: so many that whoever asks has asked; an older one is STORE_UNKNOWN. Any thread. */
#ifndef LAGRA_STORE_RADOS_OUTCOMES_H
#define LAGRA_STORE_RADOS_OUTCOMES_H

#include "base/waiter.h"
#include "store/store.h"

#define OUTCOMES_REMEMBERED 65536u

struct outcomes;
struct outcomes *outcomes_new(void);
void outcomes_free(struct outcomes *outcomes);
/* A new one, of a commit. */
uint64_t outcomes_begin(struct outcomes *outcomes);
void outcomes_end(struct outcomes *outcomes, uint64_t sequence, enum store_result result);
/* As store_wait_durable() and store_settled(). */
void outcomes_wait(struct outcomes *outcomes, uint64_t sequence, struct waiter *waiter);
enum store_result outcomes_of(struct outcomes *outcomes, uint64_t sequence);

#endif
