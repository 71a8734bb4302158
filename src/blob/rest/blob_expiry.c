/* Request and response of Set Blob Expiry, and the expiry of new paths. rest: Set-Blob-Expiry */
#include "blob/blob_operations.h"
#include "blob/expiry.h"
#include "blob/rest/request.h"
#include "service/answer.h"

#define OPTION       "x-ms-expiry-option"
#define TIME         "x-ms-expiry-time"
#define TICKS_PER_MS (TICKS_PER_SECOND / 1000)

/* The names are case-insensitive. */
static enum error read_option(struct call *call, enum expiry_option *ret_option)
{
    static const char *const options[] = {
        [EXPIRY_NEVER] = "NeverExpire",
        [EXPIRY_ABSOLUTE] = "Absolute",
        [EXPIRY_SINCE_CREATION] = "RelativeToCreation",
        [EXPIRY_SINCE_NOW] = "RelativeToNow",
    };
    struct bytes text = call_header(call, OPTION);

    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (bytes_is_nocase(text, options[i])) {
            *ret_option = (enum expiry_option)i;
            return OK;
        }
    }
    return call_fail_header(call, text.ptr ? E_InvalidHeaderValue : E_MissingRequiredHeader, OPTION,
                            text);
}

static bool parse_time(struct bytes text, enum expiry_option option, uint64_t *ret_ticks)
{
    uint64_t ms;

    if (option == EXPIRY_ABSOLUTE)
        return instant_parse_http(text, ret_ticks);
    if (!bytes_parse_u64(text, UINT64_MAX / TICKS_PER_MS, &ms))
        return false;
    *ret_ticks = ms * TICKS_PER_MS;
    return true;
}

enum error expiry_read_request(struct call *call, struct expiry_request *ret_request)
{
    struct expiry_request request = { .given = call_header(call, TIME) };
    enum error e = read_option(call, &request.option);

    if (e)
        return e;
    if (request.option != EXPIRY_NEVER && !request.given.ptr)
        return call_fail_header(call, E_MissingRequiredHeader, TIME, request.given);
    if (request.option == EXPIRY_NEVER ? request.given.ptr != NULL
                                       : !parse_time(request.given, request.option, &request.ticks))
        return call_fail_header(call, E_InvalidHeaderValue, TIME, request.given);
    *ret_request = request;
    return OK;
}

void answer_expiry(struct answer *a, const struct blob *blob)
{
    if (blob->expiry.at > 0)
        answer_date(a, TIME, blob->expiry.at);
}

enum error set_blob_expiry_check(struct call *call, struct set_blob_expiry_parameters *p)
{
    enum error e = blob_refuse_unbuilt(call, REQUEST_CHANGE);

    return e ? e : expiry_read_request(call, &p->expiry);
}

OPERATION_ANSWERS_NOTHING(set_blob_expiry)
