/* Lease Blob and Lease Container as requests and as answers. rest: Lease-Blob, Lease-Container */
#include "blob/blob_operations.h"
#include "blob/container_operations.h"
#include "blob/rest/request.h"

static enum error read_request(struct call *call, struct lease_request *ret_request)
{
    const struct lease_headers headers = {
        .action = call_header(call, "x-ms-lease-action"),
        .id = call_header(call, "x-ms-lease-id"),
        .proposed = call_header(call, "x-ms-proposed-lease-id"),
        .duration = call_header(call, "x-ms-lease-duration"),
        .break_period = call_header(call, "x-ms-lease-break-period"),
    };
    const char *at_fault;
    enum error e = blob_refuse_unbuilt(call, REQUEST_LEASE);

    if (e)
        return e;
    e = lease_request_parse(call->arena, &headers, ret_request, &at_fault);
    return e ? call_fail_header(call, e, at_fault, call_header(call, at_fault)) : OK;
}

static void answer_outcome(struct answer *a, const struct lease_result *lease,
                           const struct guid *lease_id)
{
    char id[GUID_TEXT_SIZE];

    answer_status(a, lease->status);
    if (lease->has_id) {
        guid_format(lease_id, id);
        answer_header(a, "x-ms-lease-id", arena_copy(a->arena, bytes_from_string(id)));
    }
    if (lease->has_time)
        answer_u64(a, "x-ms-lease-time", lease->time_s);
}

enum error lease_blob_check(struct call *call, struct lease_blob_parameters *p)
{
    return read_request(call, &p->request);
}

void lease_blob_answer(struct answer *a, const struct lease_blob_parameters *p,
                       const struct lease_blob_result *r)
{
    (void)p;
    answer_outcome(a, &r->lease, &r->id);
}

enum error lease_container_check(struct call *call, struct lease_container_parameters *p)
{
    return read_request(call, &p->request);
}

void lease_container_answer(struct answer *a, const struct lease_container_parameters *p,
                            const struct lease_container_result *r)
{
    (void)p;
    answer_outcome(a, &r->lease, &r->id);
}
