/* States FIND_VERSION, FIND_OPERATION, ADMIT and EARLY_CHECK, between authentication and the body.
 *
 * A request without a version gets DefaultServiceVersion of the service's properties, if that is
 * set. A SAS has its own version.
 * rest: Versioning-for-the-Azure-Storage-services; decision: 107 */
#include <assert.h>

#include "cluster/route.h"
#include "request/request_private.h"
#include "properties/service_properties.h"

bool default_version_matters(const struct work *work)
{
    const struct call *call = &work->call;

    return (call->service->sections & SECTION_DEFAULT_VERSION) && call->account && !call->website &&
           call->input.identity.kind != IDENTITY_SAS && !call_header(call, "x-ms-version").ptr;
}

/* Fails the request if the properties cannot be read. */
enum state default_version_find(struct flow *flow)
{
    struct work *work = &flow->work;
    struct service_properties properties;
    uint64_t sequence = 0;
    enum store_result result = service_properties_find(
        &work->decision, service_data_name(work->call.service), &properties, &sequence);

    if (result == STORE_WAIT)
        return flow_to_pool(flow, default_version_find);
    decision_saw(&work->decision, sequence);
    if (result) {
        work->error = decision_fail_store(&work->decision, result);
        return CORS;
    }
    work->decision.seen_before = sequence;
    if (properties.default_version.len > 0)
        work->call.version = properties.default_version;
    return FIND_OPERATION;
}

/* Short bodies are checked once they are complete, unless the operation gathers data or the client
 * waits for 100 Continue. */
static enum state body_next(const struct call *call)
{
    if (call->request->content_length <= call->inline_max && !call->request->expects &&
        !call->operation->functions->gather)
        return WANT_BODY;
    return EARLY_CHECK;
}

static enum state count_containers(struct flow *flow)
{
    flow->work.error = limits_check_containers(&flow->work);
    return flow->work.error ? CORS : body_next(&flow->work.call);
}

enum state operation_admit(struct flow *flow)
{
    struct work *work = &flow->work;
    const struct call *call = &work->call;

    if (call->is_limited)
        work->error = limits_check_capacity(call, body_next(call) == WANT_BODY);
    if (work->error)
        return CORS;
    if (call->is_limited && call->operation->adds_container)
        return flow_to_pool(flow, count_containers);
    return body_next(call);
}

void choose_cell(struct call *call)
{
    struct route *places = call->endpoint->places;

    if (places && call->operation && call->operation->adds_container)
        call->input.place_in = route_choose(places, call->account_name);
}

enum state operation_find_step(struct flow *flow)
{
    struct work *work = &flow->work;

    assert(!work->call.operation);
    work->error = prepare_head(&work->call, &work->decision);
    choose_cell(&work->call);
    if (work->error)
        return CORS;
    return faults_are_set() ? FAULT : operation_admit(flow);
}

/* Returns true if an existing blob must not be reported yet, because a wrong checksum of the source
 * is reported first. Recorded; decision: 851 */
static bool may_still_mismatch(const struct call *call, enum error e)
{
    return e == E_BlobAlreadyExists && call->checks_source;
}

/* Refuses a request before its body is read, if that is possible. This is only an optimization:
 * decide repeats all checks. */
enum state early_check(struct flow *flow)
{
    enum error e = work_check(&flow->work);

    assert(flow->work.decision.part_count == 0);
    if (e == DECIDE_AGAIN)
        return EARLY_CHECK;
    if (e == DECIDE_BLOCKING)
        return flow_to_pool(flow, early_check);
    if (!e || may_still_mismatch(&flow->work.call, e)) {
        /* Not done earlier, because the container may be in another cell, whose owner then makes
         * the reservation. */
        e = flow->work.call.is_limited ? limits_check_capacity(&flow->work.call, true) : OK;
        if (!e)
            return WANT_BODY;
    }
    flow->work.error = e;
    return CORS;
}
