/* Gates: named places where a test build can stop an exchange, hold the syncer, or kill the
 * process. Compiled to nothing unless LAGRA_GATES is defined (meson -Dgates=true); never in a
 * release.
 *
 * A request asks with the header `x-lagra-gate: NAME=ACTION`, NAME one of the enumeration below:
 *   hold  the exchange stops there without holding a thread, until a control request lets every
 *         exchange stopped at NAME go. `applied=hold` also keeps the syncer from making it durable
 *   each  like hold, but each time that the exchange gets there: after a conflict it is decided again
 *   kill  the process kills itself there with SIGKILL
 *
 * Control requests, to any blob port, unauthenticated:
 *   POST /$lagra/gate/NAME      resumes what is stopped there
 *   GET /$lagra/gate/NAME       200 with the number of exchanges stopped there, as text
 *   POST /$lagra/job/NAME       background jobs stop at NAME from now on, one of enum job_gate, and
 *                               at their end; what stands elsewhere goes on. `nowhere`: none stops
 *   GET /$lagra/job/NAME        200 with the number of jobs that stand there, as text
 *   POST /$lagra/clock/SECONDS  clock_advance()
 *   POST /$lagra/renewals/hold  the lease on a cell is not renewed (cluster/owner.h), until
 *   POST /$lagra/renewals/go
 *   GET /$lagra/waiting         200 with the number of requests that wait for others' changes
 *                               (service/waiting.h), as text
 *   POST /$lagra/collect        store_collect_now(), answers the usage as "name=value" lines
 *   POST /$lagra/memory         200 with the bytes that are allocated when all caches are empty, as
 *                               text; 501 where the allocator cannot say. While nothing else is asked */
#ifndef LAGRA_BASE_GATE_H
#define LAGRA_BASE_GATE_H

#include "base/bytes.h"
#include "base/waiter.h"

enum gate { GATE_STAGED, GATE_DECIDED, GATE_APPLIED, GATE_SYNCED, GATES };
enum gate_action { GATE_PASS, GATE_HOLD, GATE_HOLD_EACH, GATE_KILL };

/* Where background jobs stop (service/background.h), each with a thread. All of a process do. */
enum job_gate {
    JOB_BEGUN,   /* knows what is to be done, has done nothing */
    JOB_STEP,    /* decided about a step that is not the last, not committed */
    JOB_STEPPED, /* that is durable */
    JOB_DECIDED, /* decided about the last one, not committed */
    JOB_APPLIED, /* committed the last one, and nothing becomes durable while it stands here */
    JOB_ENDED,
    JOB_GATES, /* nowhere */
};

struct gate_request {
    enum gate gate;
    enum gate_action action;
};

#ifdef LAGRA_GATES
/* "decided=hold" */
bool gate_parse(struct bytes text, struct gate_request *ret_request);
bool gate_by_name(struct bytes name, enum gate *ret_gate);
/* At a gate: GATE_KILL kills, GATE_HOLD keeps the waiter until gate_go() and returns true (the
 * caller waits), anything else returns false. Any thread. */
bool gate_stop(enum gate here, const struct gate_request *asked, struct waiter *waiter);
void gate_go(enum gate gate);
unsigned gate_count(enum gate gate);
/* Store: while this is true the syncer makes nothing durable. */
bool gate_syncer_held(void);
void gate_hold_syncer(bool held);
/* Cluster: while this is true leases on cells are not renewed. */
bool gate_renewals_held(void);
void gate_hold_renewals(bool held);

bool job_gate_by_name(struct bytes name, enum job_gate *ret_gate);
void job_gate_stop_at(enum job_gate gate);
unsigned job_gate_count(enum job_gate gate);
/* Waits while jobs are to stop at `here`. A thread that no request waits for. */
void job_gate_pass(enum job_gate here);
/* The commit before JOB_APPLIED begins, and ends without. */
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
