/* Limits of accounts. A request over a limit is refused after a delay, so that a client that
 * retries at once uses few resources. auth/account_limits.h; decision: 460 */
#include "request/request_private.h"

#include <assert.h>

#include "auth/account_limits.h"
#include "service/other_cells.h"
#include "service/row.h"
#include "service/usage.h"
#include "service/waiting.h"

/* Delay before a refusal: a client with one connection can retry at most ten times per second.
 * Delays end at multiples of the interval, so that many requests are woken together. */
#define HOLD_TICKS (TICKS_PER_SECOND / 10)
#define GRID_TICKS (TICKS_PER_SECOND / 32)

static enum account_way way_of(const struct call *call)
{
    return call->request->method & (METHOD_GET | METHOD_HEAD) ? WAY_OUT : WAY_IN;
}

/* Returns true if the headers state the length of the body. A part of a batch has no body of its
 * own. */
static bool says_its_length(const struct call *call)
{
    return !call->list && call->request->content_length != HTTP_LENGTH_UNKNOWN;
}

enum error limits_admit(struct call *call)
{
    uint64_t now_ns = clock_monotonic_ns(), wait_ns;
    enum error e = account_admit(call->account, way_of(call), now_ns, &wait_ns);

    if (e) {
        call->problem->retry_after_s = (unsigned)(wait_ns / 1000000000) + 1;
        return e;
    }
    call->is_limited = true;
    if (says_its_length(call))
        account_pay(call->account, WAY_IN, call->request->content_length, now_ns);
    return OK;
}

bool limits_refused(enum error e)
{
    return e == E_ServerBusyOperations || e == E_ServerBusyIngress || e == E_ServerBusyEgress;
}

enum state limits_hold(struct flow *flow)
{
    instant now = clock_now(), until = now + HOLD_TICKS;

    assert(limits_refused(flow->work.error));
    if (flow->was_held || !waiters_delay(until + GRID_TICKS - until % GRID_TICKS, flow_arm(flow)))
        return CORS;
    flow->was_held = true;
    return flow_wait(flow);
}

void limits_pay(const struct flow *flow, uint64_t sent, uint64_t now_ns)
{
    const struct call *call = &flow->work.call;

    if (!says_its_length(call)) {
        account_pay(call->account, WAY_IN, flow->intake.received, now_ns);
        account_keep(call->account, flow->intake.received);
    }
    account_pay(call->account, WAY_OUT, sent, now_ns);
}

/* ---- capacity ---- */

/* Returns true if the operation may use more space. Deletions, leases and properties have no body.
 * Policies and service properties are always admitted. */
static bool grows(const struct call *call)
{
    const struct operation *operation = call->operation;
    bool is_list = operation->functions->batch && !operation->functions->batch->whole;

    if (operation->rights.effect != WRITES || is_list || operation->body_max == XML_BODY_MAX)
        return false;
    return call->request->content_length > 0 || operation->functions->gather ||
           call_header(call, "x-ms-copy-source").ptr ||
           call_header(call, "x-ms-content-length").ptr ||
           call_header(call, "x-ms-blob-content-length").ptr;
}

enum error limits_check_capacity(const struct call *call, bool reserves)
{
    uint64_t bytes = says_its_length(call) ? call->request->content_length : 0;

    if (account_limit(call->account, LIMIT_CAPACITY) == 0 || !grows(call))
        return OK;
    return (reserves ? account_keep : account_has_room)(call->account, bytes)
               ? OK
               : E_InsufficientAccountCapacity;
}

static bool count_one(void *context, struct bytes name, const struct usage *usage)
{
    uint64_t *left = context;

    (void)name;
    return usage->is_kept || --*left > 0;
}

/* Checks the limit on containers. Containers that are created concurrently are not counted, so the
 * limit may be exceeded. */
enum error limits_check_containers(struct work *work)
{
    uint64_t limit = account_limit(work->call.account, LIMIT_CONTAINERS), left = limit;
    const struct usage_walk walk = { .store = work->decision.store,
                                     .service = work->call.service,
                                     .account = work->call.account_name,
                                     .found = count_one,
                                     .context = &left };
    struct placed_count placed;
    enum store_result result =
        limit > 0 ? other_cells_count(work->call.endpoint, work->call.account_name, &placed)
                  : STORE_OK;

    if (!result && limit > 0) {
        left = placed.names < limit ? limit - placed.names : 0;
        result = left > 0 ? usage_look(&walk) : STORE_OK;
    }
    if (result)
        return decision_fail_store(&work->decision, result);
    return limit > 0 && left == 0 ? E_InsufficientAccountContainers : OK;
}
