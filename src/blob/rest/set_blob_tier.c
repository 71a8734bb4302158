/* Request and response of Set Blob Tier. rest: Set-Blob-Tier */
#include "blob/rest/request.h"
#include "blob/blob_operations.h"

enum error set_blob_tier_check(struct call *call, struct set_blob_tier_parameters *p)
{
    enum error e = blob_refuse_unbuilt(call, REQUEST_TIER);

    if (!e)
        e = blob_parse_any_tier(call, &p->tier);
    if (e)
        return e;
    if (p->tier == TIER_NONE)
        return call_fail_header(call, E_MissingRequiredHeader, "x-ms-access-tier",
                                bytes_of(NULL, 0));
    return blob_parse_rehydration(call, &p->rehydration);
}

void set_blob_tier_answer(struct answer *a, const struct set_blob_tier_parameters *p,
                          const struct set_blob_tier_result *r)
{
    (void)p;
    if (r->is_pending)
        answer_status(a, 202);
}
