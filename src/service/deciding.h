/* Driving decisions: attempts on the state as it is now, and the commit of what came of one.
 *
 * Whoever decides goes the same way, whatever it came by (a request, a part of a list, a deferred
 * task, a copy that runs in the background, another protocol):
 *
 *   attempt -> commit -> (again, where another was faster) -> settled
 *
 * An attempt opens the partitions that it is over (decision_open()), reads the clock, and decides. A
 * commit is of all parts or of none. Those who must not block take the steps one by one, and act on what
 * they return; others leave the loop to deciding_run_unawaited(). Store results become wire errors here and in decision_fail_store(), nowhere else. Knows no protocol.
 *
 * What every step returns beside OK and errors of the wire:
 *   DECIDE_AGAIN     another was faster, or what was read is gone: attempt again
 *   DECIDE_GONE      of a commit: the space of a part was dropped; an attempt that looks for it from
 *                    above finds it gone
 *   DECIDE_BLOCKING  where it may not block: the same step again once what it asked for has been
 *                    fetched (fetch_set_wait()), or where it may block
 *   DECIDE_UNKNOWN   of a commit: nobody knows whether it came to be */
#ifndef LAGRA_SERVICE_DECIDING_H
#define LAGRA_SERVICE_DECIDING_H

#include "service/decision.h"

/* One attempt: opens the parts and decides. Pure but for that; may be run again. `of`: the caller's */
typedef enum error attempt_fn(struct decision *d, void *of);

/* What keeps losing against others is attempted so often, and then given up or left for a while: far
 * above what racing threads can cause. */
#define DECIDING_ATTEMPTS_MAX 1000

/* The attempt of an operation, by its row: locates its partition, opens it, and decides into d->result.
 * `of`: not used. */
attempt_fn deciding_operation;
/* The same up to the operation's own function: subject, permission, lease and conditions on the state
 * as it is now; closed again. returns as operation_check(), DECIDE_AGAIN, DECIDE_BLOCKING */
enum error deciding_check(struct decision *d);

/* One attempt, from d->attempt on. With OK, and unless deciding_is_empty(), its changes are to be
 * committed.
 * returns  OK, an error; E_ServerBusy after too many; E_RequestBodyTooLarge: more than a commit takes */
enum error deciding_attempt(struct decision *d, attempt_fn *attempt, void *of);
/* Is there nothing to commit? */
bool deciding_is_empty(const struct decision *d);
/* Commits the changes of all parts. */
enum error deciding_commit(struct decision *d);
/* Commits several decisions as one, which depend neither on each other nor on guards: a commit's cost
 * is shared. Not OK: none is committed.
 * count  1..COMMIT_PARTS_MAX, of the same store and access */
enum error deciding_commit_together(struct decision *const *decisions, size_t count);
/* Closes the parts. */
void deciding_end(struct decision *d);

/* Attempts and commits until it is done; may block (d->access). When it returns the parts of the last
 * attempt are still open. What was committed is not durable yet: a caller that reports it first awaits
 * d->seen (store_await()), and attempts again if that never came to be; one that promises durability
 * only at a flush, or nothing at all as a deferred task, need not. */
enum error deciding_run_unawaited(struct decision *d, attempt_fn *attempt, void *of);

#endif
