/* The state DURABLE of an exchange: a crash must not undo anything that was reported (promises 1 and 2). */
#include "service/service_private.h"

/* What the operation read or committed was lost: decides again. A request that was refused before its
 * first attempt has nothing to repeat: its connection is closed, and the client sends it again. */
static enum state decide_again(struct flow *flow)
{
    if (flow->batch)
        return batch_decide_again(flow);
    return flow->work.decision.attempts > 0 ? DECIDE : CUT;
}

/* CORS is a state, because it may have to be entered again (flow_awaits_fetch()). */
static enum state cors_again(struct flow *flow)
{
    (void)flow;
    return CORS;
}

/* Checks the operation and the CORS rules separately, because a later sequence says nothing about an
 * earlier commit to another partition. If only the rules were lost, the operation is durable and must not
 * be done twice.
 *
 * ret_awaited  the sequence that the result is about
 * ret_again    what to do if that was lost */
static enum store_result settled(struct flow *flow, uint64_t *ret_awaited, state_fn **ret_again)
{
    const struct decision *d = &flow->work.decision;
    enum store_result result = flow->batch ? batch_settled(flow) : store_settled(d->store, d->seen);

    *ret_awaited = d->seen;
    *ret_again = decide_again;
    if (result)
        return result;
    *ret_awaited = flow->work.cors.seen;
    *ret_again = cors_again;
    return store_settled(d->store, flow->work.cors.seen);
}

enum state durable_await(struct flow *flow)
{
    struct decision *d = &flow->work.decision;
    state_fn *again;
    uint64_t awaited;
    enum error e = deciding_outcome(d, settled(flow, &awaited, &again));

    if (!e)
        deciding_settled(d);
    if (!e)
        return flow_at_gate(flow, GATE_SYNCED, ANSWER);
    if (e == DECIDE_BLOCKING) {
        store_wait_durable(d->store, awaited, pause_arm(&flow->pause));
        pause_wait(&flow->pause);
        return WAITING;
    }
    if (e == DECIDE_AGAIN)
        return again(flow);
    if (e == DECIDE_UNKNOWN) /* neither success nor failure may be reported */
        return CUT;
    deciding_settled(d);
    /* A CORS rule that may be lost is not reported either. */
    if (store_settled(d->store, flow->work.cors.seen) != STORE_OK)
        flow->work.cors = (struct cors){ .enabled = false };
    flow->work.error = e;
    return ANSWER;
}

enum error durable_asked(struct flow *flow)
{
    struct decision *d = &flow->current->decision;
    enum error e = deciding_outcome(d, store_settled(d->store, d->seen));

    if (e == DECIDE_BLOCKING) {
        store_wait_durable(d->store, d->seen, pause_arm(&flow->pause));
        pause_wait(&flow->pause);
    }
    if (!e)
        deciding_settled(d);
    return e;
}
