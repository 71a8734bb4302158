/* How an exchange waits: suspended without a thread until its pause is woken, or for a step on a
 * thread of a pool. */
#include "request/request_private.h"

#include <assert.h>

void flow_set_current(struct flow *flow, struct work *work)
{
    flow->current = work;
    flow->driver.gate = &work->call.gate;
    driver_begin(&flow->driver, &work->decision, deciding_operation, work);
}

void flow_wake(struct waiter *waiter)
{
    struct pause *pause = (struct pause *)(void *)waiter;
    struct flow *flow =
        (struct flow *)(void *)((char *)pause - offsetof(struct flow, driver.pause));
    struct exchange *exchange = flow->exchange;

    /* Once pause_end() has returned, the worker may continue and end the exchange. Do not access it
     * after exchange_resume(). */
    if (pause_end(pause))
        exchange_resume(exchange);
}

enum state flow_wait(struct flow *flow)
{
    exchange_suspend(flow->exchange);
    if (pause_begin(&flow->driver.pause))
        exchange_resume(flow->exchange);
    return WAITING;
}

/* ---- POOLED: a step that may wait for a disk, on a thread of a pool ---- */

static void run_pooled(struct driver *driver)
{
    struct flow *flow = (struct flow *)(void *)((char *)driver - offsetof(struct flow, driver));

    assert(flow->magic == FLOW_MAGIC);
    request_times_enter(&flow->observed.times, flow->pooled_stage);
    flow->work.decision.access.may_block = true; /* in a batch, also for its parts */
    flow->pooled_next = flow->pooled(flow);
    flow->work.decision.access.may_block = false;
    assert(flow->pooled_next != WAITING && flow->pooled_next != POOLED);
}

void flow_run_in(struct flow *flow, struct decision_pool *pool, state_fn *step)
{
    assert(flow->magic == FLOW_MAGIC && !flow->work.decision.access.may_block);
    flow->pooled = step;
    flow->pooled_stage = flow->observed.times.stage;
    request_times_enter(&flow->observed.times, AT_THREAD);
    driver_run_in(&flow->driver, pool, run_pooled);
    flow_wait(flow);
}

void flow_run_in_pool(struct flow *flow, state_fn *step)
{
    flow->driver.job.owner = (struct pool_owner){
        .account = pool_owner_number(0, flow->work.call.account_name),
    };
    flow_run_in(flow, flow->work.call.endpoint->pool, step);
}

enum state flow_to_pool(struct flow *flow, state_fn *step)
{
    flow->state = POOLED;
    flow_run_in_pool(flow, step);
    return WAITING;
}

enum state flow_at_gate(struct flow *flow, enum gate gate, enum state next)
{
#ifdef LAGRA_GATES
    struct gate_request wanted = flow->current->call.gate;

    if (wanted.action != GATE_PASS && wanted.gate == gate) {
        if (wanted.action != GATE_HOLD_EACH)
            flow->current->call.gate.action = GATE_PASS;
        if (gate_stop(gate, &wanted, flow_arm(flow))) {
            flow->state = next;
            return flow_wait(flow);
        }
    }
#else
    (void)flow;
    (void)gate;
#endif
    return next;
}
