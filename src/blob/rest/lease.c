/* Lease Blob and Lease Container as requests and as answers. rest: Lease-Blob, Lease-Container */
#include "blob/blob_operations.h"
#include "blob/container_operations.h"
#include "blob/rest/request.h"
#include "service/lease_answer.h"

static enum error read_request(struct call *call, struct lease_request *ret_request)
{
    enum error e = blob_refuse_unbuilt(call, REQUEST_LEASE);

    return e ? e : lease_read_request(call, ret_request);
}

enum error lease_blob_check(struct call *call, struct lease_blob_parameters *p)
{
    return read_request(call, &p->request);
}

void lease_blob_answer(struct answer *a, const struct lease_blob_parameters *p,
                       const struct lease_blob_result *r)
{
    (void)p;
    answer_lease_outcome(a, &r->lease, &r->id);
}

enum error lease_container_check(struct call *call, struct lease_container_parameters *p)
{
    return read_request(call, &p->request);
}

void lease_container_answer(struct answer *a, const struct lease_container_parameters *p,
                            const struct lease_container_result *r)
{
    (void)p;
    answer_lease_outcome(a, &r->lease, &r->id);
}
