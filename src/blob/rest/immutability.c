/* Requests and responses of Set and Delete Blob Immutability Policy and Set Blob Legal Hold, and
 * these headers of operations that create a blob. */
#include "blob/blob_operations.h"
#include "blob/rest/request.h"
#include "service/answer.h"

#include <string.h>

static const char until_header[] = "x-ms-immutability-policy-until-date";
static const char mode_header[] = "x-ms-immutability-policy-mode";
static const char hold_header[] = "x-ms-legal-hold";

const char *policy_mode_text(enum policy_mode mode)
{
    return mode == POLICY_LOCKED ? "locked" : "unlocked";
}

void answer_policy(struct answer *a, const struct blob_immutability *immutability)
{
    if (immutability->mode != POLICY_NONE) {
        answer_date(a, until_header, immutability->until);
        answer_string(a, mode_header, policy_mode_text(immutability->mode));
    }
    if (immutability->has_hold)
        answer_string(a, hold_header, "true");
}

/* ---- headers ---- */

/* The mode "Mutable" of the definitions is only for responses. */
static enum error read_mode(struct call *call, bool *ret_has, enum policy_mode *ret_mode)
{
    const struct bytes text = call_header(call, mode_header);

    *ret_has = text.ptr != NULL;
    *ret_mode = bytes_is_nocase(text, "locked") ? POLICY_LOCKED : POLICY_UNLOCKED;
    return !text.ptr || *ret_mode == POLICY_LOCKED || bytes_is_nocase(text, "unlocked")
               ? OK
               : call_fail_header(call, E_InvalidHeaderValue, mode_header, text);
}

/* Requires the date. */
static enum error read_until(struct call *call, instant *ret_until)
{
    const struct bytes text = call_header(call, until_header);

    if (!text.ptr)
        return call_fail_header(call, E_MissingRequiredHeader, until_header, text);
    return instant_parse_http(text, ret_until)
               ? OK
               : call_fail_header(call, E_InvalidHeaderValue, until_header, text);
}

static enum error read_hold(struct call *call, bool *ret_has, bool *ret_hold)
{
    const struct bytes text = call_header(call, hold_header);

    *ret_has = text.ptr != NULL;
    *ret_hold = bytes_is_nocase(text, "true");
    return !text.ptr || *ret_hold || bytes_is_nocase(text, "false")
               ? OK
               : call_fail_header(call, E_InvalidHeaderValue, hold_header, text);
}

/* Demands the right to set policies and holds, in addition to that to write tags. decision: 1404 */
static void demand(struct call *call)
{
    call->input.demands.letters = call->input.demands.letters ? "ti" : "i";
    call->input.demands.actions |= ACTION_BLOB_SUPER_USER;
    call->input.demands.not_public = true;
}

enum error immutability_from_headers(struct call *call, struct immutability_request *ret_request)
{
    static const char *const names[] = { until_header, mode_header, hold_header };
    bool has_any = false;
    enum error e = OK;

    *ret_request = (struct immutability_request){ .has_policy = false };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        has_any = has_any || call_header(call, names[i]).ptr;
    if (!has_any)
        return OK;
    demand(call);
    e = read_mode(call, &ret_request->has_policy, &ret_request->mode);
    if (!e && (ret_request->has_policy || call_header(call, until_header).ptr)) {
        ret_request->has_policy = true;
        e = read_until(call, &ret_request->until);
    }
    return e ? e : read_hold(call, &ret_request->has_hold, &ret_request->hold);
}

/* ---- Set Blob Immutability Policy. rest: Set-Blob-Immutability-Policy ---- */

enum error set_blob_immutability_policy_check(struct call *call,
                                              struct set_blob_immutability_policy_parameters *p)
{
    enum error e = blob_refuse_unbuilt(call, REQUEST_POLICY);

    if (!e)
        e = read_until(call, &p->until);
    return e ? e : read_mode(call, &p->has_mode, &p->mode);
}

void set_blob_immutability_policy_answer(struct answer *a,
                                         const struct set_blob_immutability_policy_parameters *p,
                                         const struct set_blob_immutability_policy_result *r)
{
    struct blob_immutability policy = r->immutability;

    (void)p;
    policy.has_hold = false;
    answer_policy(a, &policy);
}

/* ---- Delete Blob Immutability Policy ---- */

enum error delete_blob_immutability_policy_check(
    struct call *call, struct delete_blob_immutability_policy_parameters *p)
{
    (void)p;
    return blob_refuse_unbuilt(call, REQUEST_POLICY);
}

OPERATION_ANSWERS_NOTHING(delete_blob_immutability_policy)

/* ---- Set Blob Legal Hold. rest: Set-Blob-Legal-Hold ---- */

enum error set_blob_legal_hold_check(struct call *call, struct set_blob_legal_hold_parameters *p)
{
    bool has;
    enum error e = blob_refuse_unbuilt(call, REQUEST_POLICY);

    if (!e)
        e = read_hold(call, &has, &p->hold);
    if (!e && !has)
        e = call_fail_header(call, E_MissingRequiredHeader, hold_header, bytes_of(NULL, 0));
    return e;
}

void set_blob_legal_hold_answer(struct answer *a, const struct set_blob_legal_hold_parameters *p,
                                const struct set_blob_legal_hold_result *r)
{
    (void)r;
    answer_string(a, hold_header, p->hold ? "true" : "false");
}
