/* Lease File: request and response. */
#include "file/file_operations.h"
#include "file/rest/request.h"
#include "service/lease_answer.h"

/* Checks that an acquired lease is infinite and that no break period is sent: file leases have
 * neither durations nor break periods.
 * decision: 339; rest: Lease-File, "x-ms-lease-duration" */
static enum error check_endless(struct call *call, const struct lease_request *request)
{
    static const char duration[] = "x-ms-lease-duration", period[] = "x-ms-lease-break-period";

    if (request->action == LEASE_ACQUIRE && request->duration_s != LEASE_INFINITE)
        return call_fail_header(call, E_InvalidHeaderValue, duration, call_header(call, duration));
    if (call_header(call, period).ptr && !call->loose)
        return call_fail_header(call, E_UnsupportedHeader, period, call_header(call, period));
    return OK;
}

enum error lease_file_check(struct call *call, struct lease_file_parameters *p)
{
    enum error e = refuse_share_snapshot(call);

    if (!e)
        e = lease_read_request(call, &p->request);
    return e ? e : check_endless(call, &p->request);
}

void lease_file_answer(struct answer *a, const struct lease_file_parameters *p,
                       const struct lease_file_result *r)
{
    (void)p;
    answer_lease_outcome(a, &r->lease, &r->id);
}
