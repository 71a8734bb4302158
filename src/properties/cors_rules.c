/* CORS rules: see cors_rules.h. Stored format of each rule, in the order in which they were set:
 *   bytes methods, origins, allowed headers, exposed headers (comma-separated lists, as returned);
 *   max age, seconds
 * The record that contains the rules has the format version (service_properties.c). */
#include "properties/cors_rules.h"

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

/* ---- evaluation ---- */

static const struct bytes star = BYTES("*");

typedef bool entry_fits_fn(struct bytes entry, struct bytes wanted);

/* Returns true if any entry of a comma-separated list matches. */
static bool any_fits(struct bytes list, struct bytes wanted, entry_fits_fn *fits)
{
    while (list.ptr) {
        struct bytes entry;

        bytes_cut(list, ',', &entry, &list);
        if (fits(bytes_trim(entry), wanted))
            return true;
    }
    return false;
}

static bool is_same(struct bytes entry, struct bytes wanted)
{
    return bytes_equal(entry, wanted);
}

/* Compares an entry, case-sensitively, with the origin as sent. An asterisk in the entry matches
 * the subdomains of a domain: "https://(*).contoso.com". rest: Set-Blob-Service-Properties,
 * AllowedOrigins; decision: 106 */
static bool origin_fits(struct bytes entry, struct bytes origin)
{
    const char *at = memchr(entry.ptr, '*', entry.len);
    struct bytes before, after;

    if (!origin.ptr || !at)
        return bytes_equal(entry, origin.ptr ? origin : star);
    before = bytes_of(entry.ptr, (size_t)(at - entry.ptr));
    after = bytes_from(entry, before.len + 1);
    return origin.len > before.len + after.len && bytes_has_prefix(origin, before) &&
           bytes_has_suffix(origin, after);
}

static bool header_fits(struct bytes entry, struct bytes name)
{
    if (entry.len == 0 || entry.ptr[entry.len - 1] != '*')
        return bytes_equal_nocase(entry, name);
    entry.len--;
    return entry.len <= name.len && bytes_equal_nocase(entry, bytes_of(name.ptr, entry.len));
}

bool cors_headers_have(struct bytes list, struct bytes name)
{
    return any_fits(list, name, header_fits);
}

bool cors_rule_is_for_all(const struct cors_rule *rule)
{
    return any_fits(rule->origins, star, is_same);
}

const struct cors_rule *cors_rule_of(const struct cors_rules *rules, struct bytes origin,
                                     struct bytes method)
{
    for (size_t i = 0; i < rules->count; i++) {
        const struct cors_rule *rule = &rules->items[i];

        if (any_fits(rule->origins, origin, origin_fits) &&
            any_fits(rule->methods, method, is_same))
            return rule;
    }
    return NULL;
}

bool cors_rule_allows(const struct cors_rule *rule, struct bytes headers)
{
    while (headers.ptr) {
        struct bytes name;

        bytes_cut(headers, ',', &name, &headers);
        name = bytes_trim(name);
        if (name.len > 0 && !cors_headers_have(rule->allowed_headers, name))
            return false;
    }
    return true;
}
