/* State POOLED: a step of an exchange that may wait for a disk, on a thread of a pool. */
#include "service/service_private.h"

#include <assert.h>

static void run_pooled(struct pool_job *job)
{
    struct flow *flow = (struct flow *)(void *)((char *)job - offsetof(struct flow, job));

    assert(flow->magic == FLOW_MAGIC);
    flow->work.decision.access = flow->current->decision.access = STORE_MAY_BLOCK;
    flow->pooled_next = flow->pooled(flow);
    flow->work.decision.access = flow->current->decision.access = STORE_NO_WAIT;
    flow->pause.waiter.wake(&flow->pause.waiter); /* the worker has it now: touch nothing after */
}

/* Everything that belongs to the exchange is the pool's until it is woken. */
void flow_run_in(struct flow *flow, struct decide_pool *pool, state_fn *step)
{
    flow->pooled = step;
    flow->job.run = run_pooled;
    pause_arm(&flow->pause);
    decide_pool_submit(pool, &flow->job);
    pause_wait(&flow->pause);
}

void flow_run_in_pool(struct flow *flow, state_fn *step)
{
    flow_run_in(flow, flow->work.call.endpoint->pool, step);
}

enum state flow_to_pool(struct flow *flow, state_fn *step)
{
    flow->state = POOLED;
    flow_run_in_pool(flow, step);
    return WAITING;
}
