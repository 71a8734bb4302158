/* The headers of a lease request: which ones each action needs, and their valid values.
 * rest: Lease-Blob "Request Headers", Lease-Container; semantics 3.1 */
#include "concurrency/lease.h"

#include <assert.h>

enum {
    NEEDS_ID = 1,
    NEEDS_PROPOSED = 2,
    TAKES_PROPOSED = 4,
    NEEDS_DURATION = 8,
    TAKES_PERIOD = 16
};

static const struct {
    const char *name;
    unsigned headers;
} actions[LEASE_ACTIONS] = {
    [LEASE_ACQUIRE] = { "acquire", NEEDS_DURATION | TAKES_PROPOSED },
    [LEASE_RENEW] = { "renew", NEEDS_ID },
    [LEASE_CHANGE] = { "change", NEEDS_ID | NEEDS_PROPOSED },
    [LEASE_RELEASE] = { "release", NEEDS_ID },
    [LEASE_BREAK] = { "break", TAKES_PERIOD },
};

static enum error parse_action(struct bytes text, enum lease_action *ret_action)
{
    if (!text.ptr)
        return E_MissingRequiredHeader;
    for (unsigned i = 0; i < LEASE_ACTIONS; i++) {
        if (bytes_is_nocase(text, actions[i].name)) {
            *ret_action = (enum lease_action)i;
            return OK;
        }
    }
    return E_InvalidHeaderValue;
}

static enum error parse_id(struct arena *arena, struct bytes text, bool is_needed,
                           const struct guid **ret_id)
{
    struct guid *id;

    if (!text.ptr)
        return is_needed ? E_MissingRequiredHeader : OK;
    id = arena_alloc(arena, sizeof *id);
    if (!guid_parse(text, id))
        return E_InvalidHeaderValue;
    *ret_id = id;
    return OK;
}

static enum error parse_duration(struct bytes text, int32_t *ret_duration_s)
{
    uint64_t seconds;

    if (!text.ptr)
        return E_MissingRequiredHeader;
    if (bytes_is(text, "-1")) {
        *ret_duration_s = LEASE_INFINITE;
        return OK;
    }
    if (!bytes_parse_u64(text, LEASE_DURATION_MAX_S, &seconds) || seconds < LEASE_DURATION_MIN_S)
        return E_InvalidHeaderValue;
    *ret_duration_s = (int32_t)seconds;
    return OK;
}

static enum error parse_break_period(struct bytes text, int32_t *ret_period_s)
{
    uint64_t seconds;

    if (!text.ptr)
        return OK;
    if (!bytes_parse_u64(text, LEASE_BREAK_MAX_S, &seconds))
        return E_InvalidHeaderValue;
    *ret_period_s = (int32_t)seconds;
    return OK;
}

enum error lease_request_parse(struct arena *arena, const struct lease_headers *headers,
                               struct lease_request *ret_request, const char **ret_header)
{
    struct lease_request request = { .break_period_s = -1 };
    unsigned takes;
    enum error e;

    *ret_header = "x-ms-lease-action";
    e = parse_action(headers->action, &request.action);
    if (e)
        return e;
    takes = actions[request.action].headers;

    *ret_header = "x-ms-lease-id";
    e = takes & NEEDS_ID ? parse_id(arena, headers->id, true, &request.id) : OK;
    if (e)
        return e;

    *ret_header = "x-ms-proposed-lease-id";
    if (takes & (NEEDS_PROPOSED | TAKES_PROPOSED))
        e = parse_id(arena, headers->proposed, takes & NEEDS_PROPOSED, &request.proposed);
    if (e)
        return e;

    *ret_header = "x-ms-lease-duration";
    e = takes & NEEDS_DURATION ? parse_duration(headers->duration, &request.duration_s) : OK;
    if (e)
        return e;

    *ret_header = "x-ms-lease-break-period";
    if (takes & TAKES_PERIOD)
        e = parse_break_period(headers->break_period, &request.break_period_s);
    if (e)
        return e;

    *ret_header = NULL;
    if (request.action == LEASE_ACQUIRE && !request.proposed)
        request.generated = guid_new();
    assert(request.action < LEASE_ACTIONS && (!(takes & NEEDS_ID) || request.id));
    *ret_request = request;
    return OK;
}
