/* Health requests of orchestrators and `lagra health`. They need no account (no account can be
 * named "-"). Each follows the path of a request up to its response, on a worker. The body of a 503
 * contains the reason. decision: 343
 *
 *   GET /-/live    200 while the process works; 503 once a write or sync of the store has failed
 *   GET /-/ready   200 if requests of every kind will succeed: the store is open and has
 *                  descriptors, its state becomes durable (if the disk hangs, no response is sent),
 *                  the disk has space for writes, and the server is not stopping (--stopDelay) */
#include "request/request_private.h"

#define PATH_LIVE  "/-/live"
#define PATH_READY "/-/ready"

bool is_health_request(const struct request *request)
{
    return (request->method == METHOD_GET || request->method == METHOD_HEAD) &&
           (bytes_is(request->path, PATH_LIVE) || bytes_is(request->path, PATH_READY));
}

static enum state answer_with(struct flow *flow, int status, const char *text)
{
    struct answer *answer = &flow->work.answer;

    answer_status(answer, status);
    answer_string(answer, "Content-Type", "text/plain");
    answer->response->body_kind = BODY_BYTES;
    answer->response->body = bytes_from_string(text);
    return RESPOND;
}

static enum state is_not(struct flow *flow, const char *reason)
{
    return answer_with(flow, 503, reason);
}

static uint64_t newest_sequence(struct store *store)
{
    const struct partition any = { .key = bytes_from_string("health") };
    struct read_view *snapshot = read_view_open(store, any, STORE_NO_WAIT);
    uint64_t sequence = read_view_sequence(snapshot);

    read_view_close(snapshot);
    return sequence;
}

static bool is_stopping(const struct flow *flow)
{
    const struct endpoint *endpoint = flow->exchange->request.listener_tag;

    return endpoint->all && atomic_load(&endpoint->all->is_stopping);
}

static enum state find_ready(struct flow *flow)
{
    struct decision *d = &flow->work.decision;
    enum store_result result;

    if (is_stopping(flow))
        return is_not(flow, "the server is stopping\n");
    if (store_wants_reopening(d->store))
        return is_not(flow, "the store is out of descriptors or memory\n");
    if (d->seen == 0)
        d->seen = newest_sequence(d->store);
    result = driver_durable(&flow->driver, d->seen);
    if (result == STORE_WAIT)
        return flow_wait(flow);
    if (result)
        return is_not(flow, "written data cannot be made durable\n");
    if (store_is_full(d->store))
        return is_not(
            flow, "free disk space is below the reserve; requests that need more are refused\n");
    return answer_with(flow, 200, "ready\n");
}

enum state health_find(struct flow *flow)
{
    if (!store_healthy(flow->work.decision.store))
        return is_not(flow, "a write or sync of the store has failed\n");
    return bytes_is(flow->exchange->request.path, PATH_LIVE) ? answer_with(flow, 200, "live\n")
                                                             : find_ready(flow);
}
