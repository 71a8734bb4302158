/* The stored form of CORS rules; for each, in the order they were set:
 *   bytes methods, origins, allowed headers, exposed headers (comma lists, as they are shown);
 *   max age, seconds
 * The version of the form is that of the record around it (service_properties.c). */
#include "service/cors_rules.h"

void cors_rules_encode(struct text *out, const struct cors_rules *rules)
{
    for (size_t i = 0; i < rules->count; i++) {
        const struct cors_rule *rule = &rules->items[i];

        encode_bytes(out, rule->methods);
        encode_bytes(out, rule->origins);
        encode_bytes(out, rule->allowed_headers);
        encode_bytes(out, rule->exposed_headers);
        encode_u64(out, rule->max_age_s);
    }
}

bool cors_rules_decode(struct bytes encoded, struct cors_rules *ret_rules)
{
    struct cors_rules rules = { .count = 0 };
    struct decoder in;

    decoder_init(&in, encoded);
    while (!in.bad && in.at < in.end) {
        struct cors_rule *rule = &rules.items[rules.count];

        if (rules.count == CORS_RULES_MAX)
            return false;
        rule->methods = decode_bytes(&in);
        rule->origins = decode_bytes(&in);
        rule->allowed_headers = decode_bytes(&in);
        rule->exposed_headers = decode_bytes(&in);
        rule->max_age_s = decode_u64(&in);
        rules.count++;
    }
    if (in.bad)
        return false;
    *ret_rules = rules;
    return true;
}
