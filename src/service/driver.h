/* The driver of decisions: takes a decision from its first attempt to its commit, and to the disk. All decisions go this
 * way, those of an HTTP exchange (exchange.c), of an SMB request (smb/request.c) and of a thread that may block:
 *
 *   DECIDE -> (DECIDED) -> COMMIT -> APPLIED
 *    ^  |                    |
 *    |  +-> DONE <-----------+   refused, or without changes
 *    |  |                    |
 *    |  +-> ASK -> OTHERS -> AWAITED
 *    +-------+--------+--------+   a conflict, or others have changed something
 *
 * driver_run() goes on until its host has to do something: to run a step in the pool, to wait, to answer. A host that
 * waits is suspended until its pause is woken, and calls driver_run() again. The steps themselves are those of
 * deciding.h. The driver knows no protocol. */
#ifndef LAGRA_SERVICE_DRIVER_H
#define LAGRA_SERVICE_DRIVER_H

#include "base/gate.h"
#include "base/pause.h"
#include "service/decide_pool.h"
#include "service/deciding.h"

enum drive {
    DRIVE_DECIDE,  /* an attempt */
    DRIVE_DECIDED, /* test builds: the host stops at the gate of that name, before the commit */
    DRIVE_COMMIT,  /* there are changes to commit */
    DRIVE_ASK,     /* what it asks of others is committed, then it waits for them */
    DRIVE_OTHERS,  /* it waits for others (service/waiting.h), by driver_wait() */
    DRIVE_AWAITED, /* is kept there: decides again when it is woken */
    DRIVE_APPLIED, /* committed */
    DRIVE_DONE,    /* refused with driver->error, or there was nothing to commit: OK */
    DRIVE_BLOCKED, /* only as a result: a record is not in memory; driver_step() is to be run in the pool */
};

struct driver {
    struct decision *decision;
    attempt_fn *attempt;
    void *of;
    const struct gate_request *gate; /* test builds; NULL: none */
    enum drive state;
    enum error error;
    bool at_leisure; /* of its commit: struct store_access */
    bool
        ends_when_gone; /* a commit that finds a space dropped ends it with DECIDE_GONE; else it decides again */
    uint64_t turn; /* before the newest attempt: waiting.h */
    uint64_t seen; /* what that rested on, without its own changes */
    /* For hosts that wait without a thread. */
    struct pause pause;
    struct pool_job job; /* of the step that is in the pool */
    void (*pooled)(struct driver *driver);
};

/* The decision is driven next. */
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
/* Goes on with the decision.
 * returns DRIVE_APPLIED, DRIVE_DONE; DRIVE_OTHERS, whose parts are closed; DRIVE_DECIDED, DRIVE_BLOCKED */
enum drive driver_run(struct driver *driver);
/* Makes one attempt, on a worker, which may not block, or in the pool. returns driver->state; DRIVE_BLOCKED */
enum drive driver_attempt(struct driver *driver);
/* Makes an attempt and commits its changes, or does the commit that is due. returns as driver_attempt() */
enum drive driver_step(struct driver *driver);
/* Whether the time to wait for others is over: then nothing has changed, and that decides it. */
static inline bool driver_is_over(const struct driver *driver)
{
    return clock_now() >= driver->decision->waits_until;
}
/* Waits for others, after DRIVE_OTHERS. Returns true if the waiter is kept, false if driver_run() goes on at once. */
bool driver_wait(struct driver *driver, struct waiter *waiter);
/* Runs `step` on a thread of the pool, where the decision may block, and wakes the armed pause then; the caller suspends the
 * host. Everything that belongs to the host is the pool's until it is woken. driver->job.owner is the caller's to set. */
void driver_run_in(struct driver *driver, struct decide_pool *pool,
                   void (*step)(struct driver *driver));
/* Whether everything up to this sequence is durable.
 * returns as store_durable(); STORE_WAIT: the pause is armed, and the caller suspends the host, to ask again */
enum store_result driver_durable(struct driver *driver, uint64_t sequence);

/* ---- on a thread that may block ---- */

/* Attempts and commits until there is no conflict; may block (d->access). The parts of the last attempt
 * are still open when it returns. What was committed is not durable yet: a caller that reports it waits
 * for d->seen first (store_await()). A caller that promises
 * durability only at a flush, or not at all (a deferred task), need not wait.
 * returns OK, an error; DECIDE_GONE */
enum error deciding_run_unawaited(struct decision *d, attempt_fn *attempt, void *of);
/* The same, until what was read and changed is durable; the parts are closed. returns OK, or a wire error:
 * E_InternalError if the store has failed */
enum error deciding_run(struct decision *d, attempt_fn *attempt, void *of);

#endif
