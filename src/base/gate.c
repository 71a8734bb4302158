/* Gates of test builds: tracks which requests are waiting at which gate. Compiled only with
 * -Dgates=true. */
#include "base/gate.h"

#ifdef LAGRA_GATES

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/log.h"

static const char *const gate_names[GATES] = {
    [GATE_STAGED] = "staged",
    [GATE_DECIDED] = "decided",
    [GATE_APPLIED] = "applied",
    [GATE_SYNCED] = "synced",
};

/* Protected by gates_lock. */
struct held {
    struct waiter *first, *last; /* in order of arrival */
    unsigned count;
};
static struct held held[GATES];
static bool syncer_held;

static const char *const job_gate_names[JOB_GATES + 1] = {
    [JOB_BEGUN] = "begun",       [JOB_STEP] = "step",       [JOB_STEPPED] = "stepped",
    [JOB_DECIDED] = "decided",   [JOB_APPLIED] = "applied", [JOB_ENDED] = "ended",
    [JOB_TELLS] = "tells",       [JOB_TOLD] = "told",       [JOB_RELEASES] = "releases",
    [JOB_RELEASED] = "released", [JOB_GATES] = "nowhere",
};

/* Protected by gates_lock. */
static struct {
    enum job_gate stop;
    unsigned counts[JOB_GATES];
} jobs = { .stop = JOB_GATES };

static struct lock gates_lock;
static pthread_cond_t jobs_go_on;

__attribute__((constructor)) static void gates_init(void)
{
    lock_init(&gates_lock, RANK_GATES);
    lock_condition_init(&jobs_go_on);
}

bool gate_by_name(struct bytes name, enum gate *ret_gate)
{
    for (unsigned i = 0; i < GATES; i++)
        if (bytes_is(name, gate_names[i])) {
            *ret_gate = (enum gate)i;
            return true;
        }
    return false;
}

bool gate_parse(struct bytes text, struct gate_request *ret_request)
{
    struct gate_request request;
    struct bytes name, action;

    bytes_cut(text, '=', &name, &action);
    if (!gate_by_name(name, &request.gate))
        return false;
    if (bytes_is(action, "hold"))
        request.action = GATE_HOLD;
    else if (bytes_is(action, "each"))
        request.action = GATE_HOLD_EACH;
    else if (bytes_is(action, "kill"))
        request.action = GATE_KILL;
    else
        return false;
    *ret_request = request;
    return true;
}

static void gate_hold(enum gate here, struct waiter *waiter)
{
    struct held *at = &held[here];

    lock_acquire(&gates_lock);
    waiter->next = NULL;
    if (at->last)
        at->last->next = waiter;
    else
        at->first = waiter;
    at->last = waiter;
    at->count++;
    if (here == GATE_APPLIED)
        syncer_held = true;
    lock_release(&gates_lock);
}

bool gate_stop(enum gate here, const struct gate_request *request, struct waiter *waiter)
{
    if (request->action == GATE_PASS || request->gate != here)
        return false;
    if (request->action == GATE_KILL) {
        log_line(LOG_WARN, "killed at gate %s, as requested", gate_names[here]);
        kill(getpid(), SIGKILL);
        abort(); /* not reached */
    }
    gate_hold(here, waiter);
    return true;
}

void gate_go(enum gate gate)
{
    struct waiter *waiter;

    assert(gate < GATES);
    lock_acquire(&gates_lock);
    waiter = held[gate].first;
    held[gate] = (struct held){ .count = 0 };
    if (gate == GATE_APPLIED)
        syncer_held = false;
    lock_release(&gates_lock);

    while (waiter) {
        struct waiter *next = waiter->next; /* wake() may pass the node to another owner */

        waiter->wake(waiter);
        waiter = next;
    }
}

unsigned gate_count(enum gate gate)
{
    unsigned count;

    assert(gate < GATES);
    lock_acquire(&gates_lock);
    count = held[gate].count;
    lock_release(&gates_lock);
    return count;
}

bool gate_syncer_held(void)
{
    bool is_held;

    lock_acquire(&gates_lock);
    is_held = syncer_held;
    lock_release(&gates_lock);
    return is_held;
}

void gate_hold_syncer(bool is_held)
{
    lock_acquire(&gates_lock);
    syncer_held = is_held;
    lock_release(&gates_lock);
}

static atomic_bool renewals_held;

bool gate_renewals_held(void)
{
    return atomic_load(&renewals_held);
}

void gate_hold_renewals(bool is_held)
{
    atomic_store(&renewals_held, is_held);
}

/* ---- background jobs ---- */

bool job_gate_by_name(struct bytes name, enum job_gate *ret_gate)
{
    for (unsigned i = 0; i <= JOB_GATES; i++)
        if (bytes_is(name, job_gate_names[i])) {
            *ret_gate = (enum job_gate)i;
            return true;
        }
    return false;
}

void job_gate_stop_at(enum job_gate gate)
{
    lock_acquire(&gates_lock);
    jobs.stop = gate;
    pthread_cond_broadcast(&jobs_go_on);
    lock_release(&gates_lock);
}

unsigned job_gate_count(enum job_gate gate)
{
    unsigned count = 0;

    lock_acquire(&gates_lock);
    for (unsigned i = 0; i < JOB_GATES; i++)
        count += gate == JOB_GATES || gate == i ? jobs.counts[i] : 0;
    lock_release(&gates_lock);
    return count;
}

static bool stops_at(enum job_gate here)
{
    return jobs.stop == here || (here == JOB_ENDED && jobs.stop != JOB_GATES);
}

void job_gate_pass(enum job_gate here)
{
    assert(here < JOB_GATES);
    lock_acquire(&gates_lock);
    jobs.counts[here]++;
    while (stops_at(here))
        lock_wait(&gates_lock, &jobs_go_on, -1);
    jobs.counts[here]--;
    if (here == JOB_APPLIED)
        syncer_held = false;
    lock_release(&gates_lock);
}

void job_gate_commits(void)
{
    lock_acquire(&gates_lock);
    syncer_held = syncer_held || jobs.stop == JOB_APPLIED;
    lock_release(&gates_lock);
}

void job_gate_committed_nothing(void)
{
    lock_acquire(&gates_lock);
    syncer_held = syncer_held && held[GATE_APPLIED].count > 0;
    lock_release(&gates_lock);
}

#endif
