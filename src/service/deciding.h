/* The steps of a decision: attempts on the current state, and the commit of the changes of one. driver.h takes
 * them in their order.
 *
 * An attempt opens the partitions that it needs (decision_open()), reads the clock, and decides. A commit
 * commits all parts or none. Store results become wire errors here and in
 * decision_fail_store(), nowhere else. This file knows no protocol.
 *
 * What every step returns beside OK and wire errors:
 *   DECIDE_AGAIN     a conflict, or what was read does not agree any more: attempt again
 *   DECIDE_GONE      of a commit: the space of a part was dropped. The next attempt finds out where it
 *                    looks the space up
 *   DECIDE_BLOCKING  a record is not in memory, and the step may not block: repeat the step on a thread
 *                    that may block
 *   DECIDE_WAITS     of an attempt: somebody else has to change something first (d->waits_until). Its
 *                    changes are what it asks of others; they are committed all the same, unless empty.
 *                    Attempt again when waiting_begin() (service/waiting.h) says so */
#ifndef LAGRA_SERVICE_DECIDING_H
#define LAGRA_SERVICE_DECIDING_H

#include "service/decision.h"

/* One attempt: opens the parts and decides. Otherwise pure; may run again. of: the caller's context */
typedef enum error attempt_fn(struct decision *d, void *of);

/* After so many conflicts a decision is given up, or retried later: far more than racing threads can
 * cause. */
#define DECIDING_ATTEMPTS_MAX 1000

/* The attempt of an operation, by its row: locates its partition, opens it, and decides into d->result.
 * of: not used. */
attempt_fn deciding_operation;
/* Checks subject, permission, lease and conditions on the current state, without the operation's own
 * function; closes the parts again. returns as operation_check(), DECIDE_AGAIN, DECIDE_BLOCKING */
enum error deciding_check(struct decision *d);

/* Makes one attempt; memory of the one before is reused, from d->attempt on. After OK, and unless
 * deciding_is_empty(), the caller commits the changes.
 * returns  OK, an error; E_ServerBusy after too many, or if the memory budget does not cover what it needs */
enum error deciding_attempt(struct decision *d, attempt_fn *attempt, void *of);
/* Is there nothing to commit? */
bool deciding_is_empty(const struct decision *d);
/* Commits the changes of all parts, and reports the decision's news. */
enum error deciding_commit(struct decision *d);
/* Commits several decisions in one commit, to share its cost. They depend neither on each other nor on
 * guards. Not OK: none is committed.
 * count  1..COMMIT_PARTS_MAX, of the same store and access */
enum error deciding_commit_together(struct decision *const *decisions, size_t count);
/* Closes the parts. */
void deciding_end(struct decision *d);
/* Closes the parts and frees the memory of the attempt: the next one follows when others have changed something. */
void deciding_pause(struct decision *d);

#endif
