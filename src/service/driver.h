/* The driver of decisions: takes a decision from its first attempt to its commit. It has three
 * kinds of hosts: HTTP exchanges (exchange.c), SMB requests (smb/request.c), and threads that may
 * block.
 *
 *   DECIDE -> (DECIDED) -> COMMIT -> APPLIED
 *    ^  |                    |
 *    |  +-> DONE <-----------+   refused, or without changes
 *    |  |                    |
 *    |  +-> PREPARE -> DECIDE
 *    |  +-> ASK -> OTHERS -> AWAITED
 *    +-------+--------+--------+   a conflict, or others have changed something
 *
 * driver_run() returns whenever its host has to act: to run a step in the pool, to wait, or to
 * respond. A host that waits is suspended until its pause is woken, and then calls driver_run()
 * again. The steps are those of deciding.h. The driver knows no protocol, and calls no function of
 * its host except pooled steps. */
#ifndef LAGRA_SERVICE_DRIVER_H
#define LAGRA_SERVICE_DRIVER_H

#include "base/gate.h"
#include "base/pause.h"
#include "service/decide_pool.h"
#include "service/deciding.h"

enum drive {
    DRIVE_DECIDE,  /* an attempt */
    DRIVE_DECIDED, /* test builds: the host stops at the gate of that name, before the commit */
    DRIVE_COMMIT,  /* the commit of the changes */
    DRIVE_ASK,     /* the commit of a request to others, before the wait for them */
    DRIVE_PREPARE, /* the commit of changes that prepare the operation, before the next attempt */
    DRIVE_OTHERS,  /* the host calls driver_wait() (service/waiting.h) */
    DRIVE_AWAITED, /* suspended there, and decides again when it is woken */
    DRIVE_APPLIED, /* committed */
    DRIVE_DONE,    /* refused with driver->error, or nothing to commit (OK) */
    DRIVE_BLOCKED, /* only a result: a record is not in memory; run driver_step() in the pool */
};

struct driver {
    struct decision *decision;
    attempt_fn *attempt;
    void *of;
    const struct gate_request *gate; /* test builds; NULL if none */
    enum drive state;
    enum error error;
    bool at_leisure; /* for the commit: struct store_access */
    /* if a commit finds a space dropped, end with DECIDE_GONE instead of deciding again */
    bool ends_when_gone;
    uint64_t turn; /* before the newest attempt: waiting.h */
    uint64_t seen; /* newest sequence that it read, not counting its own commit */
    /* For hosts that wait without a thread. */
    struct pause pause;
    struct pool_job job; /* of the step that is in the pool */
    void (*pooled)(struct driver *driver);
};

/* Starts a decision. */
static inline void driver_begin(struct driver *driver, struct decision *d, attempt_fn *attempt,
                                void *of)
{
    driver->decision = d;
    driver->attempt = attempt;
    driver->of = of;
    driver->state = DRIVE_DECIDE;
}
static inline bool driver_is_done(const struct driver *driver)
{
    return driver->state == DRIVE_APPLIED || driver->state == DRIVE_DONE;
}
/* Runs the decision until the host must act.
 * Returns DRIVE_APPLIED, DRIVE_DONE, DRIVE_DECIDED, DRIVE_BLOCKED, or DRIVE_OTHERS, in which case
 * the parts are closed. */
enum drive driver_run(struct driver *driver);
/* Makes one attempt, either on a worker, where it may not block, or in the pool. Returns
 * driver->state, or DRIVE_BLOCKED. */
enum drive driver_attempt(struct driver *driver);
/* Makes an attempt and commits its changes, or makes the commit that is due. Returns the results of
 * driver_attempt(). */
enum drive driver_step(struct driver *driver);
/* Returns true if the wait for others has timed out. The next attempt then decides without them. */
static inline bool driver_is_over(const struct driver *driver)
{
    return clock_now() >= driver->decision->waits_until;
}
/* Waits for others, after DRIVE_OTHERS. Returns true if the waiter will be woken, false if there is
 * no need to wait. */
bool driver_wait(struct driver *driver, struct waiter *waiter);
/* Runs `step` on a thread of the pool, where the decision may block, and wakes the pause when it
 * has returned. The caller has set driver->job.owner, and suspends the host, which belongs to the
 * pool until it is woken. */
void driver_run_in(struct driver *driver, struct decision_pool *pool,
                   void (*step)(struct driver *driver));
/* Returns the results of store_durable(), but STORE_WAIT while a failure of the store may not be
 * reported yet. After STORE_WAIT the pause is armed. The caller then suspends the host and calls
 * this function again. */
enum store_result driver_durable(struct driver *driver, uint64_t sequence);

/* ---- on a thread that may block ---- */

/* Attempts and commits until there is no conflict; may block (d->access). The parts of the last
 * attempt are still open when it returns. The commit is not durable yet: a caller that reports it
 * must first wait for d->seen (store_await()). A caller that promises durability only at a flush,
 * or not at all (a deferred task), need not wait. Returns a failure of the store only if it may be
 * reported (store_failure_stands()).
 * Returns OK or an error; DECIDE_GONE. */
enum error deciding_run_unawaited(struct decision *d, attempt_fn *attempt, void *of);
/* Like deciding_run_unawaited(), but waits until everything that was read and changed is durable,
 * and closes the parts.
 * Returns OK, or a wire error: E_InternalError if the store has failed. */
enum error deciding_run(struct decision *d, attempt_fn *attempt, void *of);
/* Runs the decision of a request like deciding_run(), but decides again if a commit finds a space
 * dropped: the next attempt finds that the container no longer exists. */
enum error deciding_run_request(struct decision *d, attempt_fn *attempt, void *of);
/* Runs a decision without a request like deciding_run(). service: NULL if the attempt needs none */
enum error deciding_run_in(struct store *store, const struct service *service, struct arena *arena,
                           attempt_fn *attempt, void *of);

#endif
