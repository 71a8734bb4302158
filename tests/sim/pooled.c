/* Requests that the service decides on a thread of its pool: what such a thread commits is the
 * request's that submitted the job. */
#include "pooled.h"

#include <assert.h>
#include <stddef.h>

#include "judge.h"
#include "service/decide_pool.h"
#include "service/server.h"
#include "service/service_private.h"
#include "services.h"

#define JOBS_MAX 256

static struct submitted {
    struct pool_job *job; /* NULL: free */
    void (*run)(struct pool_job *job);
    int slot;
} submitted[JOBS_MAX];

void __real_decide_pool_submit(struct decide_pool *pool, struct pool_job *job);
void __wrap_decide_pool_submit(struct decide_pool *pool, struct pool_job *job);

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
void __wrap_decide_pool_submit(struct decide_pool *pool, struct pool_job *job)
{
    struct submitted *entry = submitted;
    int slot = request_slot();

    while (entry->job) {
        entry++;
        assert(entry < submitted + JOBS_MAX);
    }
    if (slot >= 0 && sim_service()->has_committed((unsigned)slot))
        slot = -1;
    *entry = (struct submitted){ .job = job, .run = job->run, .slot = slot };
    job->run = run_for_slot;
    __real_decide_pool_submit(pool, job);
}

struct decide_pool *pooled_new(void)
{
    return decide_pool_new(3);
}

/* ---- the parts of a batch ---- */

enum state __real_list_next(struct flow *flow);
enum state __wrap_list_next(struct flow *flow);

/* One begins: what is committed from now on is of it. */
enum state __wrap_list_next(struct flow *flow)
{
    int slot = request_slot();

    if (slot >= 0)
        judge_part_begins((unsigned)slot);
    return __real_list_next(flow);
}
