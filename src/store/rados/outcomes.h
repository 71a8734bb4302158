/* Sequences of the store: what became of each commit.
 *
 * A commit has one from its beginning; two more come with it, for what was read: of the state that it will leave
 * (outcomes_read()), and, once it is known to be durable, of all that is (outcomes_durable()). Who reports something
 * keeps the greatest of those that it saw. So a sequence that may be lost must be above all that cannot: those of
 * snapshots of states that are not durable yet, and of commits that rest on one, are above all others. The outcomes
 * of commits that failed are remembered: so many that whoever asks has asked; an older one is STORE_UNKNOWN. So is one
 * that takes too long, until it ends. Any thread. */
#ifndef LAGRA_STORE_RADOS_OUTCOMES_H
#define LAGRA_STORE_RADOS_OUTCOMES_H

#include "base/waiter.h"
#include "store/store.h"

#define OUTCOMES_REMEMBERED 65536u

struct outcomes;
struct outcomes *outcomes_new(void);
void outcomes_free(struct outcomes *outcomes);
/* A new one, of a commit. rests: it was decided on a state that is not durable yet. */
uint64_t outcomes_begin(struct outcomes *outcomes, bool rests);
/* Of a snapshot of the state that this commit will leave. It settles with the commit: STORE_OK, or STORE_CONFLICT
 * whatever else became of that. */
uint64_t outcomes_read(uint64_t commit);
/* Of a snapshot of that state, opened when the commit may have been applied already: others may have committed since,
 * and have been answered. It settles with the commit as STORE_CONFLICT. */
uint64_t outcomes_read_late(uint64_t commit);
/* Of snapshots of what is durable, once this commit is. */
uint64_t outcomes_durable(uint64_t commit);
void outcomes_end(struct outcomes *outcomes, uint64_t sequence, enum store_result result);
/* Nobody waits any longer for those that began so long ago and have not ended. */
void outcomes_expire(struct outcomes *outcomes, unsigned limit_ms);
/* As store_wait_durable() and store_settled(). */
void outcomes_wait(struct outcomes *outcomes, uint64_t sequence, struct waiter *waiter);
enum store_result outcomes_of(struct outcomes *outcomes, uint64_t sequence);
/* Both, on a thread that may block. */
enum store_result outcomes_await(struct outcomes *outcomes, uint64_t sequence);

#endif
