/* Waiting without a thread: see struct pause; and steps that wait on a thread of a pool. */
#include "service/service_private.h"

#include <assert.h>

enum { PAUSE_IDLE, PAUSE_SUSPENDED, PAUSE_WOKEN };

static void pause_wake(struct waiter *waiter)
{
    struct pause *pause = (struct pause *)waiter;
    struct exchange *exchange = pause->exchange;

    /* Once it says WOKEN, the worker may go on and end the exchange: touch nothing after. */
    if (atomic_exchange(&pause->state, PAUSE_WOKEN) == PAUSE_SUSPENDED)
        exchange_resume(exchange);
}

void pause_init(struct pause *pause, struct exchange *exchange)
{
    assert(exchange);
    pause->waiter = (struct waiter){ .wake = pause_wake };
    pause->exchange = exchange;
    atomic_init(&pause->state, PAUSE_IDLE);
}

struct waiter *pause_arm(struct pause *pause)
{
    atomic_store(&pause->state, PAUSE_IDLE);
    return &pause->waiter;
}

void pause_wait(struct pause *pause)
{
    exchange_suspend(pause->exchange);
    if (atomic_exchange(&pause->state, PAUSE_SUSPENDED) == PAUSE_WOKEN)
        exchange_resume(pause->exchange);
}

/* ---- a step that may wait for a disk, on a thread of a pool: state POOLED ---- */

static void set_may_block(struct flow *flow, bool may)
{
    flow->work.decision.access.may_block = may;
    flow->current->decision.access.may_block = may;
}

static void run_pooled(struct pool_job *job)
{
    struct flow *flow = (struct flow *)(void *)((char *)job - offsetof(struct flow, job));

    assert(flow->magic == FLOW_MAGIC);
    request_times_enter(&flow->times, flow, flow->pooled_stage);
    set_may_block(flow, true);
    flow->pooled_next = flow->pooled(flow);
    assert(flow->pooled_next != WAITING && flow->pooled_next != POOLED);
    set_may_block(flow, false);
    flow->pause.waiter.wake(&flow->pause.waiter); /* the worker has it now: touch nothing after */
}

/* Everything that belongs to the exchange is the pool's until it is woken. */
void flow_run_in(struct flow *flow, struct decide_pool *pool, state_fn *step)
{
    assert(flow->magic == FLOW_MAGIC && !flow->work.decision.access.may_block);
    flow->pooled = step;
    flow->pooled_stage = flow->times.stage;
    request_times_enter(&flow->times, flow, AT_THREAD);
    flow->job.run = run_pooled;
    pause_arm(&flow->pause);
    decide_pool_submit(pool, &flow->job);
    pause_wait(&flow->pause);
}

void flow_run_in_pool(struct flow *flow, state_fn *step)
{
    flow->job.owner = (struct pool_owner){
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
    struct gate_request asked = flow->current->call.gate;

    if (asked.action != GATE_PASS && asked.gate == gate) {
        if (asked.action != GATE_HOLD_EACH)
            flow->current->call.gate.action = GATE_PASS;
        if (gate_stop(gate, &asked, pause_arm(&flow->pause))) {
            flow->state = next;
            pause_wait(&flow->pause);
            return WAITING;
        }
    }
#else
    (void)flow;
    (void)gate;
#endif
    return next;
}
