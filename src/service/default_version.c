/* States FIND_VERSION and FIND_OPERATION, once it is known who asks.
 *
 * The version that a request is served by that says none is DefaultServiceVersion of the service's
 * properties, if that is set. A SAS has a version of its own.
 * rest: Versioning-for-the-Azure-Storage-services; decision: 107 */
#include "service/service_private.h"
#include "service/service_properties.h"

bool default_version_matters(const struct work *work)
{
    const struct call *call = &work->call;

    return (call->service->sections & SECTION_DEFAULT_VERSION) && call->account && !call->website &&
           call->input.identity.kind != IDENTITY_SAS && !call_header(call, "x-ms-version").ptr;
}

/* Where the properties cannot be read, nothing can be said of the request. */
enum state default_version_find(struct flow *flow)
{
    struct work *work = &flow->work;
    struct service_properties properties;
    enum store_result result =
        service_properties_find(&work->decision, work->call.service->name, &properties);

    if (result == STORE_WAIT)
        return flow_to_pool(flow, default_version_find);
    if (result == STORE_CONFLICT)
        return FIND_VERSION;
    if (result) {
        work->error = decision_fail_store(&work->decision, result);
        return CORS;
    }
    if (properties.default_version.len > 0)
        work->call.version = properties.default_version;
    return FIND_OPERATION;
}

/* What is short, and needs nothing that may take long, is checked when all of it has come. */
enum state operation_find_step(struct flow *flow)
{
    struct work *work = &flow->work;
    const struct call *call = &work->call;

    work->error = work_find(work);
    if (work->error)
        return CORS;
    if (call->request->content_length <= call->inline_max && !call_header(call, "expect").ptr &&
        !call->operation->functions->gather)
        return WANT_BODY;
    return EARLY_CHECK;
}
