/* See driver.h. */
#include "service/driver.h"

#include <assert.h>
#include <stddef.h>

#include "base/sleeper.h"
#include "service/waiting.h"
#include "store/failure.h"

/* ---- gates: test builds ---- */

static bool is_gated(const struct driver *driver)
{
#ifdef LAGRA_GATES
    return driver->gate && driver->gate->action != GATE_PASS;
#else
    (void)driver;
    return false;
#endif
}

/* Commits. At the gate APPLIED the changes must be applied but not yet durable, so the syncer is
 * stopped before the commit. */
static enum error commit_at_gate(const struct driver *driver)
{
#ifdef LAGRA_GATES
    bool holds =
        is_gated(driver) && driver->gate->action == GATE_HOLD && driver->gate->gate == GATE_APPLIED;
    enum error e;

    if (holds)
        gate_hold_syncer(true);
    e = deciding_commit(driver->decision);
    if (holds && e && gate_count(GATE_APPLIED) == 0)
        gate_hold_syncer(false);
    return e;
#else
    return deciding_commit(driver->decision);
#endif
}

/* ---- attempts and commits ---- */

static enum drive done(struct driver *driver, enum error e)
{
    driver->error = e;
    return driver->state = DRIVE_DONE;
}

enum drive driver_attempt(struct driver *driver)
{
    struct decision *d = driver->decision;
    enum error e;

    assert(driver->state == DRIVE_DECIDE);
    driver->turn = waiters_turn();
    e = deciding_attempt(d, driver->attempt, driver->of);
    if (e == DECIDE_BLOCKING)
        return DRIVE_BLOCKED;
    if (e == DECIDE_AGAIN)
        return DRIVE_DECIDE;
    if (e == DECIDE_WAITS)
        return driver->state = deciding_is_empty(d) ? DRIVE_OTHERS : DRIVE_ASK;
    if (e == DECIDE_PREPARED)
        return driver->state = DRIVE_PREPARE;
    driver->seen = d->seen;
    if (e || deciding_is_empty(d))
        return done(driver, e);
    return driver->state = is_gated(driver) ? DRIVE_DECIDED : DRIVE_COMMIT;
}

/* Commits the changes, whether of the operation itself, of its preparation, or a request to other
 * clients. next: the following state */
static enum drive commit(struct driver *driver, enum drive next)
{
    enum error e = commit_at_gate(driver);

    if (e == DECIDE_BLOCKING)
        return DRIVE_BLOCKED;
    if (e == DECIDE_AGAIN || (e == DECIDE_GONE && !driver->ends_when_gone))
        return driver->state = DRIVE_DECIDE;
    driver->error = e;
    return driver->state = e ? DRIVE_DONE : next;
}

enum drive driver_step(struct driver *driver)
{
    if (driver->state == DRIVE_ASK)
        return commit(driver, DRIVE_OTHERS);
    if (driver->state == DRIVE_PREPARE)
        return commit(driver, DRIVE_DECIDE);
    if (driver->state == DRIVE_DECIDE) {
        enum drive reached = driver_attempt(driver);

        if (reached != DRIVE_COMMIT)
            return reached;
    }
    assert(driver->state == DRIVE_COMMIT);
    driver->decision->access.at_leisure = driver->at_leisure;
    return commit(driver, DRIVE_APPLIED);
}

enum drive driver_run(struct driver *driver)
{
    enum drive reached = driver->state == DRIVE_AWAITED ? DRIVE_DECIDE : driver->state;

    driver->state = reached;
    while (reached == DRIVE_DECIDE || reached == DRIVE_COMMIT || reached == DRIVE_ASK ||
           reached == DRIVE_PREPARE)
        reached = driver_step(driver);
    if (reached == DRIVE_DECIDED)
        driver->state = DRIVE_COMMIT;
    if (reached == DRIVE_OTHERS) /* the wait may take half a minute */
        deciding_pause(driver->decision);
    return reached;
}

/* ---- waiting ---- */

bool driver_wait(struct driver *driver, struct waiter *waiter)
{
    const struct decision *d = driver->decision;

    assert(driver->state == DRIVE_OTHERS);
    switch (waiters_add(&d->waits_for, driver->turn, d->waits_until, waiter)) {
    case WAITING_KEPT:
        driver->state = DRIVE_AWAITED;
        return true;
    case WAITING_OVER:
        driver->state = DRIVE_DECIDE;
        return false;
    case WAITING_ENDS:
        break;
    }
    done(driver, E_ServerBusy);
    return false;
}

enum store_result driver_durable(struct driver *driver, uint64_t sequence)
{
    struct decision *d = driver->decision;
    struct store *store = d->store;
    enum store_result result = store_durable(store, sequence);

    if (result == STORE_WAIT)
        store_wait_durable(store, sequence, pause_arm(&driver->pause));
    else if (result)
        decision_saw_failure(d);
    if (result != STORE_WAIT && d->failed_ns > 0 &&
        !store_failure_stands(store, d->failed_ns, pause_arm(&driver->pause)))
        return STORE_WAIT;
    return result;
}

/* ---- in the pool ---- */

static void run_pooled(struct pool_job *job)
{
    struct driver *driver = (struct driver *)(void *)((char *)job - offsetof(struct driver, job));

    driver->decision->access.may_block = true;
    driver->pooled(driver);
    driver->decision->access.may_block = false;
    /* the host may already be using the driver; do not access it any more */
    pause_wake(&driver->pause);
}

void driver_run_in(struct driver *driver, struct decision_pool *pool,
                   void (*step)(struct driver *driver))
{
    assert(!driver->decision->access.may_block);
    driver->pooled = step;
    driver->job.run = run_pooled;
    pause_arm(&driver->pause);
    decision_pool_submit(pool, &driver->job);
}

/* ---- on a thread that may block ---- */

static void sleep_until_changed(struct driver *driver)
{
    struct sleeper sleeper;

    sleeper_init(&sleeper);
    if (driver_wait(driver, sleeper_arm(&sleeper)))
        sleeper_wait(&sleeper);
    sleeper_release(&sleeper);
}

/* Waits until a failure of the store may be reported. */
static void await_failure(struct decision *d)
{
    struct sleeper sleeper;

    sleeper_init(&sleeper);
    while (d->failed_ns > 0 && !store_failure_stands(d->store, d->failed_ns, sleeper_arm(&sleeper)))
        sleeper_wait(&sleeper);
    sleeper_release(&sleeper);
}

static enum error run_blocking(struct decision *d, attempt_fn *attempt, void *of,
                               bool ends_when_gone)
{
    struct driver driver = { .ends_when_gone = ends_when_gone };
    enum drive reached;

    assert(d->access.may_block);
    driver_begin(&driver, d, attempt, of);
    while ((reached = driver_run(&driver)) == DRIVE_OTHERS)
        sleep_until_changed(&driver);
    assert(reached == DRIVE_APPLIED || reached == DRIVE_DONE);
    await_failure(d);
    return driver.error;
}

enum error deciding_run_unawaited(struct decision *d, attempt_fn *attempt, void *of)
{
    return run_blocking(d, attempt, of, true);
}

enum error deciding_run_request(struct decision *d, attempt_fn *attempt, void *of)
{
    enum error e = run_blocking(d, attempt, of, false);

    deciding_end(d);
    return store_await(d->store, d->seen) ? E_InternalError : e;
}

enum error deciding_run(struct decision *d, attempt_fn *attempt, void *of)
{
    enum error e = deciding_run_unawaited(d, attempt, of);

    deciding_end(d);
    return store_await(d->store, d->seen) || e == DECIDE_GONE ? E_InternalError : e;
}

enum error deciding_run_in(struct store *store, const struct service *service, struct arena *arena,
                           attempt_fn *attempt, void *of)
{
    struct problem problem = { .detail = NULL };
    struct decision d = { .service = service,
                          .store = store,
                          .arena = arena,
                          .access = STORE_MAY_BLOCK,
                          .problem = &problem,
                          .attempt = arena_mark(arena) };

    return deciding_run(&d, attempt, of);
}
