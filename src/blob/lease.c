/* Lease Blob and Lease Container: the headers in, the state machine of concurrency/lease.h, the
 * answer. Neither changes an ETag or a modification time. semantics 3.1 */
#include "blob/blob_request.h"

/* rest: Lease-Blob, Lease-Container */
enum error check_lease(struct decision *d)
{
    const struct call *call = d->call;
    const struct lease_headers headers = {
        .action = call_header(call, "x-ms-lease-action"),
        .id = call_header(call, "x-ms-lease-id"),
        .proposed = call_header(call, "x-ms-proposed-lease-id"),
        .duration = call_header(call, "x-ms-lease-duration"),
        .break_period = call_header(call, "x-ms-lease-break-period"),
    };
    struct lease_request *request = arena_alloc(d->arena, sizeof *request);
    const char *at_fault;
    enum error e;

    e = blob_refuse_unbuilt(d, REQUEST_LEASE);
    if (e)
        return e;
    e = lease_request_parse(d->arena, &headers, request, &at_fault);
    if (e)
        return fail_header(d, e, at_fault, call_header(call, at_fault));
    d->call->parameters = request;
    return OK;
}

static void answer_result(struct decision *d, const struct lease *lease,
                          const struct lease_result *result)
{
    char id[GUID_TEXT_SIZE];

    answer(d, result->status);
    answer_etag(d, d->subject.etag, d->subject.modified);
    if (result->has_id) {
        guid_format(&lease->id, id);
        answer_header(d, "x-ms-lease-id", arena_copy(d->arena, bytes_from_string(id)));
    }
    if (result->has_time)
        answer_u64(d, "x-ms-lease-time", result->time_s);
}

enum error lease_blob(struct decision *d)
{
    struct blob blob = blob_state(d)->blob;
    struct lease_result result;
    enum error e;

    e = lease_perform(&blob.lease, d->call->parameters, d->now, &result);
    if (e)
        return e;
    blob_write(d->changes, d->arena, &blob);
    answer_result(d, &blob.lease, &result);
    return OK;
}

enum error lease_container(struct decision *d)
{
    struct container container = blob_state(d)->container;
    struct lease_result result;
    enum error e;

    e = lease_perform(&container.lease, d->call->parameters, d->now, &result);
    if (e)
        return e;
    container_write(d->changes, d->arena, &container);
    answer_result(d, &container.lease, &result);
    return OK;
}
