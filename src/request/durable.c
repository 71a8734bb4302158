/* State DURABLE: waits until a crash cannot undo anything that the response reports (promises 1 and
 * 2). */
#include "request/request_private.h"

/* Returns the newest sequence that the operation and all parts of a batch have read or committed,
 * including the CORS rules. */
static uint64_t reported(const struct flow *flow)
{
    uint64_t seen = flow->work.decision.seen, rules = flow->work.cors.seen;

    return rules > seen ? rules : seen;
}

enum state durable_await(struct flow *flow)
{
    struct decision *d = &flow->work.decision;
    enum store_result result = driver_durable(&flow->driver, reported(flow));

    if (!result)
        return flow_at_gate(flow, GATE_SYNCED, ANSWER);
    if (result == STORE_WAIT)
        return flow_wait(flow);
    /* Do not report a CORS rule that may be lost. */
    if (store_durable(d->store, flow->work.cors.seen) != STORE_OK)
        flow->work.cors = (struct cors){ .enabled = false };
    flow->work.error = decision_fail_store(d, result);
    return ANSWER;
}
