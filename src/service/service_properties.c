/* Get Service Properties, Set Service Properties of every service. What can be set is the CORS rules.
 *
 * Record: INNER "p" in the service's own partition: u8 1 (version); bytes CORS rules
 * (cors_rules.c). No record: nothing was ever set. */
#include "service/service_properties.h"

#define RECORD_VERSION 1

static const struct bytes record_key = BYTES("p");

/* ---- the record ---- */

static enum error read_properties(struct decision *d, struct service_properties *ret_properties)
{
    struct service_properties properties = { .cors = { .count = 0 } };
    struct record record;
    struct decoder in;
    enum store_result result;

    result = snapshot_get(d->before, RECORD_INNER, record_key, d->arena, &record);
    if (result == STORE_OK) {
        struct bytes cors;

        decoder_init(&in, record.value);
        if (decode_u8(&in) != RECORD_VERSION)
            return decision_fail_store(d, STORE_CORRUPT);
        cors = decode_bytes(&in);
        if (!decoder_ok(&in) || !cors_rules_decode(cors, &properties.cors))
            return decision_fail_store(d, STORE_CORRUPT);
    } else if (result != STORE_NOT_FOUND) {
        return decision_fail_store(d, result);
    }
    *ret_properties = properties;
    return OK;
}

static void write_properties(struct decision *d, const struct service_properties *properties)
{
    struct text rules, out;

    text_init(&rules, d->arena, 256);
    cors_rules_encode(&rules, &properties->cors);
    text_init(&out, d->arena, rules.len + 8);
    encode_u8(&out, RECORD_VERSION);
    encode_bytes(&out, text_bytes(&rules));
    changes_put(d->changes, RECORD_INNER, record_key, text_bytes(&out), NULL, 0);
}

/* ---- the operations ---- */

enum error get_service_properties_decide(struct decision *d,
                                         const struct get_service_properties_parameters *p,
                                         struct get_service_properties_result *r)
{
    (void)p;
    return read_properties(d, &r->properties);
}

/* What was not sent stays as it is. */
enum error set_service_properties_decide(struct decision *d,
                                         const struct set_service_properties_parameters *p,
                                         struct set_service_properties_result *r)
{
    struct service_properties properties;
    enum error e = read_properties(d, &properties);

    (void)r;
    if (e)
        return e;
    if (p->has_cors)
        properties.cors = p->properties.cors;
    write_properties(d, &properties);
    return OK;
}
