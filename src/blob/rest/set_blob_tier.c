/* Set Blob Tier as a request and as an answer. rest: Set-Blob-Tier */
#include "blob/rest/request.h"
#include "blob/tier_operations.h"

/* With high priority it takes a tenth of the time. decision: 86 */
#define HIGH_IS_FASTER 10

enum error set_blob_tier_check(struct call *call, struct set_blob_tier_parameters *p)
{
    static const char name[] = "x-ms-rehydrate-priority";
    struct bytes priority = call_header(call, name);
    enum error e = blob_refuse_unbuilt(call, REQUEST_TIER);

    if (!e)
        e = blob_parse_any_tier(call, &p->tier);
    if (e)
        return e;
    if (p->tier == TIER_NONE)
        return call_fail_header(call, E_MissingRequiredHeader, "x-ms-access-tier",
                                bytes_of(NULL, 0));
    p->is_high = bytes_is_nocase(priority, "High");
    if (priority.ptr && !p->is_high && !bytes_is_nocase(priority, "Standard"))
        return call_fail_header(call, E_InvalidHeaderValue, name, priority);
    p->rehydrates_ticks = call->rehydrates_ticks / (p->is_high ? HIGH_IS_FASTER : 1);
    return OK;
}

void set_blob_tier_answer(struct answer *a, const struct set_blob_tier_parameters *p,
                          const struct set_blob_tier_result *r)
{
    (void)p;
    answer_status(a, r->is_pending ? 202 : 200);
}
