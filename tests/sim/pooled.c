/* Requests that the service decides on a thread of its pool: what such a thread commits is the
 * request's that submitted the job. */
#include "pooled.h"

#include <assert.h>
#include <stddef.h>

#include "copy_steps.h"
#include "fleet_parts.h"
#include "fleet_shared.h"
#include "fs_copy_steps.h"
#include "judge.h"
#include "moves.h"
#include "protect.h"
#include "service/decide_pool.h"
#include "service/server.h"
#include "request/request_private.h"
#include "scheduler.h"
#include "services.h"
#include "world.h"

#define JOBS_MAX 256

static struct submitted {
    struct pool_job *job; /* NULL: free */
    void (*run)(struct pool_job *job);
    int slot;
} submitted[JOBS_MAX] OF_PROCESS;

void __real_decision_pool_submit(struct decision_pool *pool, struct pool_job *job);
void __wrap_decision_pool_submit(struct decision_pool *pool, struct pool_job *job);

static void run_for_slot(struct pool_job *job)
{
    struct submitted *entry = submitted;
    void (*run)(struct pool_job *);

    while (entry->job != job)
        entry++;
    run = job->run = entry->run;
    entry->job = NULL;
    request_set_slot(entry->slot);
    run(job);
    request_set_slot(-1);
}

/* What is submitted after the request's commit clears away behind it, and nobody waits for that. */
void __wrap_decision_pool_submit(struct decision_pool *pool, struct pool_job *job)
{
    struct submitted *entry = submitted;
    int slot = request_slot();

    while (entry->job) {
        entry++;
        assert(entry < submitted + JOBS_MAX);
    }
    if (slot >= 0 && slot < (int)SLOTS_MAX && sim_service()->has_committed((unsigned)slot))
        slot = -1;
    *entry = (struct submitted){ .job = job, .run = job->run, .slot = slot };
    job->run = run_for_slot;
    __real_decision_pool_submit(pool, job);
}

struct decision_pool *pooled_new(void)
{
    return decision_pool_new(3, (struct pool_shares){ .account = 0 });
}

/* ---- the parts of a batch ---- */

enum state __real_batch_next(struct flow *flow);
enum state __wrap_batch_next(struct flow *flow);

static const struct work *first_parts[SLOTS_MAX]; /* of the slots' lists; NULL: none is begun */

void pooled_forget_list(unsigned slot)
{
    first_parts[slot] = NULL;
}

/* The parts lie one behind the other, and the first comes first. */
enum state __wrap_batch_next(struct flow *flow)
{
    enum state state = __real_batch_next(flow);
    int slot = request_slot();

    if (slot < 0)
        return state;
    if (flow->current == &flow->work)
        judge_list_ends((unsigned)slot);
    else if (!first_parts[slot])
        first_parts[slot] = flow->current;
    return state;
}

static bool rests_on(const struct decision *d, const struct read_view *before)
{
    for (unsigned i = 0; i < d->part_count; i++)
        if (d->parts[i].before == before)
            return true;
    return false;
}

/* Of those that are not done: the others have closed their snapshots, and one may lie now where theirs did. */
static unsigned part_of(const struct work *first, unsigned count, const struct read_view *before)
{
    for (unsigned i = 0; i < count; i++) {
        if (rests_on(&first[i].decision, before))
            return i;
    }
    assert(!"a commit of no part");
    return 0;
}

enum store_result __real_store_commit(struct store *store, const struct commit_part *parts,
                                      size_t count, instant now, struct store_access access,
                                      uint64_t *ret_sequence);
enum store_result __wrap_store_commit(struct store *store, const struct commit_part *parts,
                                      size_t count, instant now, struct store_access access,
                                      uint64_t *ret_sequence);

/* Once in six commits of runs of protection the thread stands still before it: what it has decided on may change meanwhile,
 * and whoever changed it be told so. */
static void stand_still(void)
{
    if (protect_is_on() && world_once_in(STREAM_SYSTEM, 6))
        sched_sleep(world_draw(STREAM_SYSTEM, 100) * UINT64_C(1000000));
}

/* Several may be committed as one, and be done again alone when they cannot. */
enum store_result __wrap_store_commit(struct store *store, const struct commit_part *parts,
                                      size_t count, instant now, struct store_access access,
                                      uint64_t *ret_sequence)
{
    int slot = request_slot();
    unsigned numbers[PARTS_MAX], found = 0;
    enum store_result result;

    if (fleet_part() >= 0) {
        unsigned part = (unsigned)fleet_part();

        judge_commits_parts((unsigned)slot, &part, 1);
        return __real_store_commit(store, parts, count, now, access, ret_sequence);
    }
    for (size_t i = 0; slot >= 0 && slot < (int)SLOTS_MAX && first_parts[slot] && i < count; i++) {
        if (parts[i].changes)
            numbers[found++] =
                part_of(first_parts[slot], judge_parts((unsigned)slot), parts[i].snapshot);
    }
    if (found > 0)
        judge_commits_parts((unsigned)slot, numbers, found);
    stand_still();
    result = __real_store_commit(store, parts, count, now, access, ret_sequence);
    if (result && slot < 0) { /* what the thread has decided is not done */
        copy_steps()->ends = false;
        (void)fs_copy_step();
        moves_undecided();
    }
    return result;
}
