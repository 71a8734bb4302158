/* GET /$lagra/health, which `lagra health` asks: 200 when this service does what it is for. It goes the
 * way of a request up to its answer, without an account: a worker takes it, the store shows its state, and
 * that becomes durable, so a disk that hangs leaves it without an answer. A store that failed is 500, one
 * that lacks descriptors 503. No account can have this name. decision: 255 */
#include "service/service_private.h"

bool health_is_asked(const struct request *request)
{
    return request->method == METHOD_GET && bytes_is(request->path, "/$lagra/health");
}

static enum state fail(struct flow *flow, enum store_result result)
{
    flow->work.error = decision_fail_store(&flow->work.decision, result);
    return ANSWER;
}

static uint64_t newest_sequence(struct store *store)
{
    const struct partition any = { .key = bytes_from_string("health") };
    struct snapshot *snapshot = snapshot_open(store, any, STORE_NO_WAIT);
    uint64_t sequence = snapshot_sequence(snapshot);

    snapshot_close(snapshot);
    return sequence;
}

enum state health_find(struct flow *flow)
{
    struct decision *d = &flow->work.decision;
    enum store_result result;

    if (!store_healthy(d->store))
        return fail(flow, STORE_IO);
    if (store_wants_reopening(d->store))
        return fail(flow, STORE_SHORTAGE);
    if (d->seen == 0)
        d->seen = newest_sequence(d->store);
    result = store_settled(d->store, d->seen);
    if (result == STORE_WAIT) {
        store_wait_durable(d->store, d->seen, pause_arm(&flow->pause));
        pause_wait(&flow->pause);
        return WAITING;
    }
    if (result)
        return fail(flow, STORE_IO);
    answer_status(&flow->work.answer, 200);
    return RESPOND;
}
