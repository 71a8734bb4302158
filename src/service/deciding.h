/* Steps of a decision: attempts on the current state, and the commit of an attempt's changes.
 * driver.h runs them in order.
 *
 * An attempt opens the partitions it needs (decision_open()), reads the clock, and decides. A
 * commit commits all parts or none. Store results become wire errors only here and in
 * decision_fail_store(). This file does not depend on any protocol.
 *
 * Results of all steps besides OK and wire errors:
 *   DECIDE_AGAIN     conflict, or the data that was read is inconsistent: attempt again
 *   DECIDE_GONE      commit only: the space of a part was dropped. The next attempt notices when it
 *                    looks up the space
 *   DECIDE_BLOCKING  a record is not in memory and the step may not block: repeat the step on
 *                    a thread that may block
 *   DECIDE_WAITS     attempt only: another client must change something first (d->waits_until). The
 *                    attempt's changes are requests to other clients, and are committed unless
 *                    empty. Attempt again after the wait of waiters_add() (service/waiting.h)
 *   DECIDE_PREPARED  attempt only: the attempt's changes prepare the operation, which is too large
 *                    for one commit with them. Commit them, then attempt again */
#ifndef LAGRA_SERVICE_DECIDING_H
#define LAGRA_SERVICE_DECIDING_H

#include "service/decision.h"

/* Attempts a decision: opens the parts and decides. Otherwise pure, so it may run again. of: the
 * caller's context */
typedef enum error attempt_fn(struct decision *d, void *of);

/* After this many conflicts a decision fails or is retried later. Racing threads cause far
 * fewer. */
#define DECIDING_ATTEMPTS_MAX 1000

/* Attempts an operation: locates and opens its partition, and decides into d->result. of: not
 * used */
attempt_fn deciding_operation;
/* Checks subject, permission, lease and conditions on the current state, without the operation's
 * own function. Closes the parts. Returns the results of operation_check(), or DECIDE_AGAIN,
 * DECIDE_BLOCKING. */
enum error deciding_check(struct decision *d);

/* Makes one attempt. Reuses the memory of the previous attempt, from d->attempt on. After OK the
 * caller commits the changes unless deciding_is_empty().
 * Returns  OK or an error; E_ServerBusy after too many conflicts or if the memory budget is
 * exhausted. */
enum error deciding_attempt(struct decision *d, attempt_fn *attempt, void *of);
/* Returns true if there is nothing to commit. */
bool deciding_is_empty(const struct decision *d);
/* Commits the changes of all parts, and delivers the decision's notifications. */
enum error deciding_commit(struct decision *d);
/* Commits several decisions in one commit to share its cost. They must not depend on each other or
 * on guards. If the result is not OK, none is committed.
 * count  1..COMMIT_PARTS_MAX, all with the same store and access */
enum error deciding_commit_together(struct decision *const *decisions, size_t count);
/* Closes the parts. */
void deciding_end(struct decision *d);
/* Closes the parts and frees the memory of the attempt, because the next attempt has to wait for
 * others. */
void deciding_pause(struct decision *d);

#endif
