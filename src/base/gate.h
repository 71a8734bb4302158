/* Gates: named points at which a test build can stop an exchange, hold the syncer, or kill the
 * process. Compiled to nothing unless LAGRA_GATES is defined (meson -Dgates=true); never in a
 * release.
 *
 * A request selects one with the header `x-lagra-gate: NAME=ACTION`, NAME one of the enumeration
 * below:
 *   hold  the exchange stops there without holding a thread, until a control request resumes every
 *         exchange stopped at NAME. `applied=hold` also prevents the syncer from making its commit
 *         durable
 *   each  like hold, but every time the exchange reaches the gate, even if it is decided again
 *         after a conflict
 *   kill  the process kills itself there with SIGKILL
 *
 * Control requests, to any blob port, unauthenticated:
 *   POST /$lagra/gate/NAME      resumes the exchanges stopped there
 *   GET /$lagra/gate/NAME       200 with the number of exchanges stopped there, as text
 *   POST /$lagra/job/NAME       makes background jobs stop at NAME, one of enum job_gate, and at
 *                               their end; jobs stopped elsewhere continue. `nowhere`: no job
 *                               stops
 *   GET /$lagra/job/NAME        200 with the number of jobs stopped there, as text
 *   POST /$lagra/clock/SECONDS  clock_advance()
 *   POST /$lagra/renewals/hold  stops renewing the lease on a cell (cluster/owner.h), until
 *   POST /$lagra/renewals/go
 *   GET /$lagra/waiting         200 with the number of requests that wait for changes of other
 *                               requests (service/waiting.h), as text
 *   POST /$lagra/collect        store_collect_now(); returns the usage as "name=value" lines
 *   POST /$lagra/memory         200 with the bytes allocated when all caches are empty, as text;
 *                               501 if the allocator cannot report it. Call while idle */
#ifndef LAGRA_BASE_GATE_H
#define LAGRA_BASE_GATE_H

#include "base/bytes.h"
#include "base/waiter.h"

enum gate { GATE_STAGED, GATE_DECIDED, GATE_APPLIED, GATE_SYNCED, GATES };
enum gate_action { GATE_PASS, GATE_HOLD, GATE_HOLD_EACH, GATE_KILL };

/* Points at which background jobs (service/background.h) and deferred tasks of the process can
 * stop, each blocking its thread. */
enum job_gate {
    JOB_BEGUN,   /* the job is registered, but has done nothing yet */
    JOB_STEP,    /* a step other than the last was decided, but not committed */
    JOB_STEPPED, /* that step is durable */
    JOB_DECIDED, /* the last step was decided, but not committed */
    /* the last step was committed; nothing becomes durable while the job is stopped here */
    JOB_APPLIED,
    JOB_ENDED,
    /* Deferred tasks that end a placement (service/placement_release.h). */
    JOB_TELLS,    /* a cell is about to notify the root of a deletion */
    JOB_TOLD,     /* the root has recorded the deletion; the cell's task is not done */
    JOB_RELEASES, /* the root is about to ask a cell to release a name */
    JOB_RELEASED, /* the cell has agreed; the row is not removed */
    JOB_GATES,    /* nowhere */
};

struct gate_request {
    enum gate gate;
    enum gate_action action;
};

#ifdef LAGRA_GATES
/* Parses "decided=hold". */
bool gate_parse(struct bytes text, struct gate_request *ret_request);
bool gate_by_name(struct bytes name, enum gate *ret_gate);
/* Passes a gate: GATE_KILL kills the process; GATE_HOLD queues the waiter until gate_go() and
 * returns true (the caller must wait); anything else returns false. Thread-safe. */
bool gate_stop(enum gate here, const struct gate_request *request, struct waiter *waiter);
void gate_go(enum gate gate);
unsigned gate_count(enum gate gate);
/* Returns true while the store's syncer must make nothing durable. */
bool gate_syncer_held(void);
void gate_hold_syncer(bool held);
/* Returns true while leases on cells must not be renewed. */
bool gate_renewals_held(void);
void gate_hold_renewals(bool held);

bool job_gate_by_name(struct bytes name, enum job_gate *ret_gate);
void job_gate_stop_at(enum job_gate gate);
unsigned job_gate_count(enum job_gate gate);
/* Blocks while jobs must stop at `here`. Must only be called on a thread that no request waits
 * for. */
void job_gate_pass(enum job_gate here);
/* Called before the commit that leads to JOB_APPLIED, and if that commit did not happen. */
void job_gate_commits(void);
void job_gate_committed_nothing(void);
#else
static inline bool gate_renewals_held(void)
{
    return false;
}
static inline void job_gate_pass(enum job_gate here)
{
    (void)here;
}
static inline void job_gate_commits(void)
{
}
static inline void job_gate_committed_nothing(void)
{
}
#endif

#endif
