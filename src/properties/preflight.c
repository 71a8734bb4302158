/* Preflight: see preflight.h. */
#include "properties/preflight.h"

#include "properties/service_properties.h"

enum error preflight_decide(struct decision *d, const struct preflight_parameters *p,
                            struct preflight_result *r)
{
    struct service_properties properties;
    const struct cors_rule *rule;
    enum store_result result = service_properties_read(d->before, d->arena, &properties);

    if (result)
        return decision_fail_store(d, result);
    rule = cors_rule_of(&properties.cors, p->origin, p->method);
    if (!rule || !cors_rule_allows(rule, p->headers)) {
        problem_set_field(d->problem, "MessageDetails",
                          bytes_from_string("No CORS rules matches this request"));
        return E_CorsPreflightFailure;
    }
    r->max_age_s = rule->max_age_s;
    return OK;
}
