/* State FINISH_BODY, after the complete body has arrived. Makes the body durable before the
 * decision, gathers data that it only refers to, and parses it. */
#include "request/request_private.h"

#include <assert.h>

#include "base/episode.h"
#include "service/other_cells.h"

/* Larger bodies are parsed in the pool. A list of 50,000 blocks takes longer than other requests
 * should wait for a worker. */
#define PARSED_BY_WORKER_MAX (64u << 10)

static enum state parse(struct flow *flow)
{
    prepare_body(&flow->work.call, &flow->work.decision);
    return PARSED;
}

/* Maximum number of requests that wait for a gathering thread. One account can have half of them,
 * and a third of those for one source. Further requests fail with ServerBusy. */
#define GATHERS_WAITING_MAX 512

enum state flow_to_gather_pool(struct flow *flow, state_fn *step, state_fn *refused)
{
    const struct endpoint *endpoint = flow->work.call.endpoint;
    struct decision_pool *pool = endpoint->gather_pool ? endpoint->gather_pool : endpoint->pool;

    if (!decision_pool_has_capacity(pool, &flow->driver.job.owner, GATHERS_WAITING_MAX)) {
        episode_refused(EPISODE_GATHER);
        return refused(flow);
    }
    flow->state = POOLED;
    flow_run_in(flow, pool, step);
    return WAITING;
}

static enum state refuse(struct flow *flow, enum error e)
{
    assert(e != OK && !decision_is_unfinished(e));
    flow->work.error = e;
    return CORS;
}

/* Called on a thread that may block for long. */
static enum state gather(struct flow *flow)
{
    struct call *call = &flow->work.call;
    enum error e = other_cells_matter(call)
                       ? other_cells_fetch(call)
                       : prepare_gather(call, &flow->work.decision, &flow->intake.stage);

    return e ? refuse(flow, e) : parse(flow);
}

static enum state refuse_gather(struct flow *flow)
{
    return refuse(flow, E_ServerBusy);
}

static enum state gather_in_pool(struct flow *flow)
{
    flow->driver.job.owner = flow->work.call.gathers_for;
    return flow_to_gather_pool(flow, gather, refuse_gather);
}

enum state body_finish(struct flow *flow)
{
    enum store_result result = intake_finish(flow);
    enum error e;

    assert(flow->state == FINISH_BODY && flow->work.call.operation);
    if (result == STORE_WAIT) {
        return flow_wait(flow);
    }
    if (result)
        return refuse(flow, decision_fail_store(&flow->work.decision, result));
    e = intake_check_sums(flow);
    if (e)
        return refuse(flow, e);
    if (other_cells_matter(&flow->work.call))
        flow->work.call.gathers_for.account = pool_owner_number(0, flow->work.call.account_name);
    if (other_cells_matter(&flow->work.call) || flow->work.call.operation->functions->gather)
        return gather_in_pool(flow);
    if (flow->work.call.operation->functions->parse &&
        flow->work.call.input.body.length > PARSED_BY_WORKER_MAX)
        return flow_to_pool(flow, parse);
    return parse(flow);
}
