/* Requests and responses of Lease Blob and Lease Container. rest: Lease-Blob, Lease-Container */
#include "blob/blob_operations.h"
#include "blob/container_operations.h"
#include "blob/rest/request.h"
#include "service/lease_answer.h"

/* Requires write permission to break a lease with a SAS older than this version; since then the
 * delete permission in `sp` suffices. rest: Version-2017-07-29 */
static void demand_write(struct call *call)
{
    const struct identity *identity = &call->input.identity;
    bool is_old = bytes_compare(call_query(call, "sv"), bytes_from_string("2017-07-29")) < 0;

    if (identity->kind == IDENTITY_SAS && identity->sas->permissions.ptr && is_old)
        call->input.demands.letters = call->input.demands.letters ? "tw" : "w";
}

static enum error read_request(struct call *call, struct lease_request *ret_request)
{
    enum error e = blob_refuse_unbuilt(call, REQUEST_LEASE);

    demand_write(call);
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
