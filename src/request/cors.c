/* CORS headers, for responses to preflight requests (preflight.h) and to actual requests, including
 * errors.
 *
 * The headers depend on the account's rules. The rules are therefore read for each request whose
 * response they may change: requests with an Origin, and every GET and HEAD, whose response informs
 * caches whether it depends on the origin. If the rules cannot be read, the response has no CORS
 * headers, and a browser withholds it.
 * rest: Cross-Origin-Resource-Sharing--CORS--Support-for-the-Azure-Storage-Services; decision:
 * 106 */
#include <assert.h>

#include "properties/preflight.h"
#include "request/request_private.h"
#include "properties/service_properties.h"

/* Returns true if a request header's value may be copied to a response header, which may not
 * contain a tab. */
static bool can_be_echoed(struct bytes value)
{
    return value.len == 0 || !memchr(value.ptr, '\t', value.len);
}

/* ---- preflight ---- */

static enum error read_required(struct call *call, const char *name, const char *shown,
                                struct bytes *ret_value)
{
    *ret_value = call_header(call, name);
    if (ret_value->len > 0 && can_be_echoed(*ret_value))
        return OK;
    problem_set_field(call->problem, "MessageDetails",
                      arena_printf(call->arena, "Invalid required CORS header %s", shown));
    return E_MissingCorsHeader;
}

enum error preflight_check(struct call *call, struct preflight_parameters *p)
{
    enum error e = read_required(call, "origin", "Origin", &p->origin);

    if (!e)
        e = read_required(call, "access-control-request-method", "Access-Control-Request-Method",
                          &p->method);
    p->headers = call_header(call, "access-control-request-headers");
    if (!e && !can_be_echoed(p->headers))
        e = call_fail_header(call, E_InvalidHeaderValue, "Access-Control-Request-Headers",
                             p->headers);
    return e;
}

void preflight_answer(struct answer *a, const struct preflight_parameters *p,
                      const struct preflight_result *r)
{
    answer_header(a, "Access-Control-Allow-Origin", p->origin);
    answer_header(a, "Access-Control-Allow-Methods", p->method);
    if (p->headers.len > 0)
        answer_header(a, "Access-Control-Allow-Headers", p->headers);
    answer_u64(a, "Access-Control-Max-Age", r->max_age_s);
    answer_string(a, "Access-Control-Allow-Credentials", "true");
}

/* ---- actual requests ---- */

static bool is_cacheable(const struct request *request)
{
    return request->method == METHOD_GET || request->method == METHOD_HEAD;
}

/* Returns true if the account's rules may change the response. */
static bool matters(const struct work *work)
{
    const struct call *call = &work->call;

    if (!call->account || call->website || !call->service->read_resource ||
        call->request->method == METHOD_OPTIONS)
        return false;
    return is_cacheable(call->request) || call_header(call, "origin").ptr;
}

/* Returns the Origin header; ptr NULL if it was not sent. Returns an empty value, which matches no
 * rule, if it cannot be echoed. */
static struct bytes origin_of(const struct call *call)
{
    struct bytes origin = call_header(call, "origin");

    return can_be_echoed(origin) ? origin : bytes_of("", 0);
}

static enum store_result find_rule(struct work *work)
{
    struct service_properties properties;
    enum store_result result;

    work->cors = (struct cors){ .enabled = false };
    if (!matters(work))
        return STORE_OK;
    result = service_properties_find(&work->decision, service_data_name(work->call.service),
                                     &properties, &work->cors.seen);
    if (result)
        return result;
    work->cors.enabled = properties.cors.count > 0;
    if (work->cors.enabled) {
        const struct cors_rule *rule =
            cors_rule_of(&properties.cors, origin_of(&work->call), work->call.request->method_text);

        work->cors.has_rule = rule != NULL;
        if (rule)
            work->cors.rule = *rule;
    }
    return STORE_OK;
}

enum state cors_find(struct flow *flow)
{
    enum store_result result = find_rule(&flow->work);

    if (result == STORE_WAIT)
        return flow_to_pool(flow, cors_find);
    if (result == STORE_CORRUPT || result == STORE_IO)
        decision_saw_failure(&flow->work.decision);
    return DURABLE;
}

static void add_name(struct text *out, struct bytes name)
{
    if (out->len > 0)
        text_add_char(out, ',');
    text_add(out, name);
}

/* Returns the names of the response's headers that the rule exposes, and the names in the rule that
 * are not in the response (as recorded, and as in Azurite). */
static struct bytes exposed_names(const struct answer *a, struct bytes list)
{
    static const struct bytes later[] = { BYTES("Content-Length"), BYTES("Date"),
                                          BYTES("Transfer-Encoding") };
    const struct response *response = a->response;
    struct text out;

    text_init(&out, a->arena, 256);
    for (size_t i = 0; i < response->header_count; i++) {
        if (cors_headers_have(list, response->headers[i].name))
            add_name(&out, response->headers[i].name);
    }
    for (size_t i = 0; i < sizeof later / sizeof later[0]; i++) {
        if (cors_headers_have(list, later[i]) && !response_find_header(response, later[i]))
            add_name(&out, later[i]);
    }
    while (list.ptr) {
        struct bytes name;

        bytes_cut(list, ',', &name, &list);
        name = bytes_trim(name);
        if (name.len > 0 && name.ptr[name.len - 1] != '*' &&
            !response_find_header(response, name) && !cors_headers_have(text_bytes(&out), name))
            add_name(&out, name);
    }
    return text_bytes(&out);
}

/* A response for all origins has "*"; a response for one origin has Vary, for caches. rest: as
 * above, "Understanding how the Vary header is set" */
void cors_answer(struct work *work)
{
    struct answer *a = &work->answer;
    const struct cors *cors = &work->cors;
    bool for_all = cors->has_rule && cors_rule_is_for_all(&cors->rule);
    struct bytes exposed;

    assert(cors->enabled || !cors->has_rule);
    if (cors->has_rule) {
        exposed = exposed_names(a, cors->rule.exposed_headers);
        answer_header(a, "Access-Control-Allow-Origin",
                      for_all ? bytes_from_string("*") : call_header(&work->call, "origin"));
        if (exposed.len > 0)
            answer_header(a, "Access-Control-Expose-Headers", exposed);
    }
    if (cors->has_rule && !for_all)
        answer_string(a, "Access-Control-Allow-Credentials", "true");
    if (cors->enabled && !for_all && is_cacheable(work->call.request))
        answer_string(a, "Vary", "Origin");
}
