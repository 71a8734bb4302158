/* Get Service Properties, Set Service Properties and Get Service Stats of every service. What can be
 * set is the CORS rules, the default version, the static website, and for how long deleted shares are kept.
 *
 * Record: INNER "p" in the service's own partition. No record: nothing was ever set.
 *   u8 1 (version); bytes CORS rules (cors_rules.c), default version; u8 website enabled; bytes index
 *   document, error document, default index; varint days that deleted shares are kept */
#include "service/service_properties.h"

#include "service/names.h"
#include "service/small_record.h"

#define RECORD_VERSION 1

static const struct bytes record_key = BYTES("p");

/* ---- the record ---- */

enum store_result service_properties_read(struct snapshot *snapshot, struct arena *arena,
                                          struct service_properties *ret_properties)
{
    struct service_properties properties = { .cors = { .count = 0 } };
    struct record record;
    struct decoder in;
    struct bytes cors;
    uint64_t days;
    bool is_known;
    enum store_result result = snapshot_get(snapshot, RECORD_INNER, record_key, arena, &record);

    *ret_properties = properties;
    if (result)
        return result == STORE_NOT_FOUND ? STORE_OK : result;
    decoder_init(&in, record.value);
    is_known = decode_u8(&in) == RECORD_VERSION;
    cors = decode_bytes(&in);
    properties.default_version = decode_bytes(&in);
    properties.website.enabled = decode_u8(&in) != 0;
    properties.website.index_document = decode_bytes(&in);
    properties.website.error_document = decode_bytes(&in);
    properties.website.default_index = decode_bytes(&in);
    days = decode_u64(&in);
    properties.share_retention_days = (uint32_t)days;
    if (!is_known || days > RETENTION_DAYS_MAX || !decoder_ok(&in) ||
        !cors_rules_decode(cors, &properties.cors))
        return record_is_unknown("the record of a service's properties", record.value);
    *ret_properties = properties;
    return STORE_OK;
}

enum store_result service_properties_find(struct decision *d, const char *service,
                                          struct service_properties *ret_properties,
                                          uint64_t *ret_sequence)
{
    struct partition at = { .space = account_space(service, d->input->account), .key = BYTES("") };
    struct snapshot *snapshot;
    enum store_result result;

    fetch_set_begin(d->access.fetches);
    snapshot = snapshot_open(d->store, at, d->access);
    result = service_properties_read(snapshot, d->arena, ret_properties);
    *ret_sequence = snapshot_sequence(snapshot);
    snapshot_close(snapshot);
    return result;
}

static void write_properties(struct decision *d, const struct service_properties *properties)
{
    struct text rules, out;

    text_init(&rules, d->arena, 256);
    cors_rules_encode(&rules, &properties->cors);
    text_init(&out, d->arena, rules.len + 64);
    encode_u8(&out, RECORD_VERSION);
    encode_bytes(&out, text_bytes(&rules));
    encode_bytes(&out, properties->default_version);
    encode_u8(&out, properties->website.enabled);
    encode_bytes(&out, properties->website.index_document);
    encode_bytes(&out, properties->website.error_document);
    encode_bytes(&out, properties->website.default_index);
    encode_u64(&out, properties->share_retention_days);
    changes_put(d->changes, RECORD_INNER, record_key, text_bytes(&out), NULL, 0);
}

/* ---- the operations ---- */

enum error get_service_properties_decide(struct decision *d,
                                         const struct get_service_properties_parameters *p,
                                         struct get_service_properties_result *r)
{
    enum store_result result = service_properties_read(d->before, d->arena, &r->properties);

    (void)p;
    return result ? decision_fail_store(d, result) : OK;
}

/* What was not sent stays as it is. */
enum error set_service_properties_decide(struct decision *d,
                                         const struct set_service_properties_parameters *p,
                                         struct set_service_properties_result *r)
{
    struct service_properties properties;
    enum store_result result = service_properties_read(d->before, d->arena, &properties);

    (void)r;
    if (result)
        return decision_fail_store(d, result);
    if (p->has_cors)
        properties.cors = p->properties.cors;
    if (p->has_default_version)
        properties.default_version = p->properties.default_version;
    if (p->has_website)
        properties.website = p->properties.website;
    if (p->has_share_retention)
        properties.share_retention_days = p->properties.share_retention_days;
    write_properties(d, &properties);
    return OK;
}

/* ---- Get Service Stats ---- */

/* At the secondary endpoint: what is written is there at once.
 * rest: Get-Blob-Service-Stats; decision: 65 */
enum error get_service_stats_decide(struct decision *d,
                                    const struct get_service_stats_parameters *p,
                                    struct get_service_stats_result *r)
{
    (void)p;
    r->last_sync = d->now;
    return OK;
}
