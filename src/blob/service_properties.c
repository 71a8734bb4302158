/* Get Blob Service Properties, Set Blob Service Properties. What can be set is the CORS rules.
 *
 * Record: INNER "p" in partition (account space, ""): u8 1 (version); bytes CORS rules
 * (cors_rules.c). No record: nothing was ever set.
 * rest: Get-Blob-Service-Properties, Set-Blob-Service-Properties */
#include "blob/service_operations.h"

#define RECORD_VERSION 1

static const struct bytes record_key = BYTES("p");

/* ---- the record ---- */

static enum error read_cors(struct decision *d, struct cors_rules *ret_cors)
{
    struct cors_rules cors = { .count = 0 };
    struct record record;
    struct decoder in;
    enum store_result result;

    result = snapshot_get(d->before, RECORD_INNER, record_key, d->arena, &record);
    if (result == STORE_OK) {
        struct bytes encoded;

        decoder_init(&in, record.value);
        if (decode_u8(&in) != RECORD_VERSION)
            return decision_fail_store(d, STORE_CORRUPT);
        encoded = decode_bytes(&in);
        if (!decoder_ok(&in) || !cors_rules_decode(encoded, &cors))
            return decision_fail_store(d, STORE_CORRUPT);
    } else if (result != STORE_NOT_FOUND) {
        return decision_fail_store(d, result);
    }
    *ret_cors = cors;
    return OK;
}

static void write_cors(struct decision *d, const struct cors_rules *cors)
{
    struct text rules, out;

    text_init(&rules, d->arena, 256);
    cors_rules_encode(&rules, cors);
    text_init(&out, d->arena, rules.len + 8);
    encode_u8(&out, RECORD_VERSION);
    encode_bytes(&out, text_bytes(&rules));
    changes_put(d->changes, RECORD_INNER, record_key, text_bytes(&out), NULL, 0);
}

/* ---- the operations ---- */

enum error get_blob_service_properties_decide(
    struct decision *d, const struct get_blob_service_properties_parameters *p,
    struct get_blob_service_properties_result *r)
{
    (void)p;
    return read_cors(d, &r->cors);
}

/* What was not sent stays as it is. */
enum error set_blob_service_properties_decide(
    struct decision *d, const struct set_blob_service_properties_parameters *p,
    struct set_blob_service_properties_result *r)
{
    struct cors_rules cors;
    enum error e = read_cors(d, &cors);

    (void)r;
    if (e)
        return e;
    write_cors(d, p->has_cors ? &p->cors : &cors);
    return OK;
}
