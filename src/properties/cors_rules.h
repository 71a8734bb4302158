/* CORS rules of a service as a value, their stored form, and what they say of a request. Pure.
 * rest: Cross-Origin-Resource-Sharing--CORS--Support-for-the-Azure-Storage-Services */
#ifndef LAGRA_PROPERTIES_CORS_RULES_H
#define LAGRA_PROPERTIES_CORS_RULES_H

#include "base/codec.h"

/* rest: as above, "Usage and restrictions"; semantics 10.1 */
#define CORS_RULES_MAX       5
#define CORS_RULES_BYTES_MAX 2048 /* all texts together, as stored */

struct cors_rule {
    struct bytes methods, origins, allowed_headers, exposed_headers; /* comma lists */
    uint64_t max_age_s;
};

struct cors_rules {
    struct cors_rule items[CORS_RULES_MAX];
    size_t count; /* 0: CORS is off */
};

void cors_rules_encode(struct text *out, const struct cors_rules *rules);
/* Returns false when the bytes have an unknown form; texts point into them. */
bool cors_rules_decode(struct bytes encoded, struct cors_rules *ret_rules);

/* The first rule with this origin and this method, which alone decides; NULL: none.
 * origin: ptr NULL where the request has none; only rules for all origins have it.
 * rest: as above, "Understanding CORS rule evaluation logic" */
const struct cors_rule *cors_rule_of(const struct cors_rules *rules, struct bytes origin,
                                     struct bytes method);
/* Is the rule for all origins: "*"? */
bool cors_rule_is_for_all(const struct cors_rule *rule);
/* May the request have all headers of the comma list (ptr NULL: it has none that matter)? */
bool cors_rule_allows(const struct cors_rule *rule, struct bytes headers);
/* Does a list of names and prefixes ("x-ms-meta-*"), as a rule's headers are, have this one? */
bool cors_headers_have(struct bytes list, struct bytes name);

#endif
