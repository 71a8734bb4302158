/* CORS rules of a service: the rules as a value, their stored format, and their evaluation for a
 * request. Pure.
 * rest: Cross-Origin-Resource-Sharing--CORS--Support-for-the-Azure-Storage-Services */
#ifndef LAGRA_PROPERTIES_CORS_RULES_H
#define LAGRA_PROPERTIES_CORS_RULES_H

#include "base/codec.h"

/* rest: as above, "Usage and restrictions"; semantics 10.1 */
#define CORS_RULES_MAX       5
#define CORS_RULES_BYTES_MAX 2048 /* total size of all rules as stored */

struct cors_rule {
    struct bytes methods, origins, allowed_headers, exposed_headers; /* comma-separated lists */
    uint64_t max_age_s;
};

struct cors_rules {
    struct cors_rule items[CORS_RULES_MAX];
    size_t count; /* 0 if CORS is off */
};

void cors_rules_encode(struct text *out, const struct cors_rules *rules);
/* Decodes stored rules. Strings point into `encoded`. Returns false if the format is not
 * recognized. */
bool cors_rules_decode(struct bytes encoded, struct cors_rules *ret_rules);

/* Returns the first rule with this origin and this method; only this rule applies. Returns NULL if
 * no rule matches. origin: ptr NULL if the request has none, which only rules for all origins
 * match. rest: as above, "Understanding CORS rule evaluation logic" */
const struct cors_rule *cors_rule_of(const struct cors_rules *rules, struct bytes origin,
                                     struct bytes method);
/* Returns true if the rule applies to all origins ("*"). */
bool cors_rule_is_for_all(const struct cors_rule *rule);
/* Returns true if the rule allows all headers in the comma-separated list. ptr NULL is an empty
 * list. */
bool cors_rule_allows(const struct cors_rule *rule, struct bytes headers);
/* Returns true if a rule's list of header names and prefixes ("x-ms-meta-*") contains this name. */
bool cors_headers_have(struct bytes list, struct bytes name);

#endif
