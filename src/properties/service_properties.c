/* Get Service Properties, Set Service Properties and Get Service Stats of every service. The
 * properties are the CORS rules, the default version, the static website, the retention of deleted
 * shares, containers and blobs, the settings of Storage Analytics, and blob versioning.
 *
 * Record: INNER "p" in the service's own partition; missing if no property was ever set.
 *   u8 version, 1 to 5
 *   bytes CORS rules (cors_rules.c), bytes default version
 *   u8 website enabled; bytes index document, error document, default index
 *   varint retention of deleted shares in days
 *   since version 2: u8 kinds of logged requests; u8 version of the log lines; varint retention of
 *     logs in days; for hour and minute metrics each: u8 (1: enabled, 2: with operations), varint
 *     retention in days
 *   since version 3: varint retention of deleted blobs in days; u8 permanent deletes are allowed
 *   since version 4: varint retention of deleted containers in days
 *   since version 5: u8 blob versioning is enabled
 * The lowest version that can store the properties is written, so that earlier programs can read
 * it: version 1 if nothing of Storage Analytics is set, 2 without blob retention, 3 without
 * container retention, and 4 without blob versioning. */
#include "properties/service_properties.h"

#include "service/names.h"
#include "service/small_record.h"
#include "store/states.h"

#define RECORD_VERSION            1 /* without Storage Analytics */
#define RECORD_VERSION_ANALYTICS  2
#define RECORD_VERSION_RETENTION  3 /* adds retention of blobs */
#define RECORD_VERSION_CONTAINERS 4 /* adds retention of containers */
#define RECORD_VERSION_VERSIONING 5

enum { METRICS_ENABLED = 1, METRICS_OF_APIS = 2 };

static const struct bytes record_key = BYTES("p");

/* ---- the record ---- */

/* Decodes one set of metrics. Returns false for values that the codec accepts but no version has
 * written. */
static bool decode_metrics(struct decoder *in, struct analytics_metrics *metrics)
{
    unsigned bits = decode_u8(in);
    uint64_t days = decode_u64(in);

    metrics->enabled = bits & METRICS_ENABLED;
    metrics->includes_apis = bits & METRICS_OF_APIS;
    metrics->retention_days = (uint32_t)days;
    return bits <= (METRICS_ENABLED | METRICS_OF_APIS) && days <= RETENTION_DAYS_MAX;
}

static bool decode_analytics(struct decoder *in, struct service_properties *properties)
{
    struct analytics_logging *logging = &properties->logging;
    uint64_t days;
    bool is_hour_known, is_minute_known;

    logging->kinds = decode_u8(in);
    logging->version = decode_u8(in);
    days = decode_u64(in);
    logging->retention_days = (uint32_t)days;
    is_hour_known = decode_metrics(in, &properties->hour_metrics);
    is_minute_known = decode_metrics(in, &properties->minute_metrics);
    return logging->kinds <= (LOGS_READS | LOGS_WRITES | LOGS_DELETES) && logging->version >= 1 &&
           logging->version <= 2 && days <= RETENTION_DAYS_MAX && is_hour_known && is_minute_known;
}

static bool decode_blob_retention(struct decoder *in, struct service_properties *properties)
{
    uint64_t days = decode_u64(in);
    unsigned permanent = decode_u8(in);

    properties->blob_retention_days = (uint32_t)days;
    properties->allows_permanent_delete = permanent != 0;
    return days <= RETENTION_DAYS_MAX && permanent <= 1;
}

static bool decode_container_retention(struct decoder *in, struct service_properties *properties)
{
    uint64_t days = decode_u64(in);

    properties->container_retention_days = (uint32_t)days;
    return days <= RETENTION_DAYS_MAX;
}

static bool decode_versioning(struct decoder *in, struct service_properties *properties)
{
    unsigned enabled = decode_u8(in);

    properties->is_versioning_enabled = enabled != 0;
    return enabled <= 1;
}

static void encode_metrics(struct text *out, const struct analytics_metrics *metrics)
{
    encode_u8(out, (uint8_t)((metrics->enabled ? METRICS_ENABLED : 0) |
                             (metrics->includes_apis ? METRICS_OF_APIS : 0)));
    encode_u64(out, metrics->retention_days);
}

static bool metrics_are_set(const struct analytics_metrics *metrics)
{
    return metrics->enabled || metrics->retention_days > 0;
}

static bool has_analytics(const struct service_properties *properties)
{
    const struct analytics_logging *logging = &properties->logging;

    return logging->kinds != 0 || logging->version != 1 || logging->retention_days > 0 ||
           metrics_are_set(&properties->hour_metrics) ||
           metrics_are_set(&properties->minute_metrics);
}

static unsigned version_of(const struct service_properties *properties)
{
    if (properties->is_versioning_enabled)
        return RECORD_VERSION_VERSIONING;
    if (properties->container_retention_days > 0)
        return RECORD_VERSION_CONTAINERS;
    if (properties->blob_retention_days > 0 || properties->allows_permanent_delete)
        return RECORD_VERSION_RETENTION;
    return has_analytics(properties) ? RECORD_VERSION_ANALYTICS : RECORD_VERSION;
}

enum store_result service_properties_read(struct read_view *snapshot, struct arena *arena,
                                          struct service_properties *ret_properties)
{
    struct service_properties properties = { .logging = { .version = 1 } };
    struct record record;
    struct decoder in;
    struct bytes cors;
    uint64_t days;
    unsigned version;
    bool is_known;
    enum store_result result = read_view_get(snapshot, RECORD_INNER, record_key, arena, &record);

    *ret_properties = properties;
    if (result)
        return result == STORE_NOT_FOUND ? STORE_OK : result;
    decoder_init(&in, record.value);
    version = decode_u8(&in);
    is_known = version >= RECORD_VERSION && version <= RECORD_VERSION_VERSIONING;
    cors = decode_bytes(&in);
    properties.default_version = decode_bytes(&in);
    properties.website.enabled = decode_u8(&in) != 0;
    properties.website.index_document = decode_bytes(&in);
    properties.website.error_document = decode_bytes(&in);
    properties.website.default_index = decode_bytes(&in);
    days = decode_u64(&in);
    properties.share_retention_days = (uint32_t)days;
    if (is_known && version >= RECORD_VERSION_ANALYTICS)
        is_known = decode_analytics(&in, &properties);
    if (is_known && version >= RECORD_VERSION_RETENTION)
        is_known = decode_blob_retention(&in, &properties);
    if (is_known && version >= RECORD_VERSION_CONTAINERS)
        is_known = decode_container_retention(&in, &properties);
    if (is_known && version >= RECORD_VERSION_VERSIONING)
        is_known = decode_versioning(&in, &properties);
    if (!is_known || days > RETENTION_DAYS_MAX || !decoder_ok(&in) ||
        !cors_rules_decode(cors, &properties.cors))
        return record_is_unknown("the record of a service's properties", record.value);
    *ret_properties = properties;
    return STORE_OK;
}

static enum store_result find(struct decision *d, const char *service, struct bytes account,
                              struct service_properties *ret_properties, uint64_t *ret_sequence)
{
    struct partition at = { .space = account_space(service, account), .key = BYTES("") };
    struct read_view *snapshot = read_view_open(d->store, at, d->access);
    enum store_result result;

    result = service_properties_read(snapshot, d->arena, ret_properties);
    *ret_sequence = read_view_sequence(snapshot);
    read_view_close(snapshot);
    return result;
}

enum store_result service_properties_find(struct decision *d, const char *service,
                                          struct service_properties *ret_properties,
                                          uint64_t *ret_sequence)
{
    return find(d, service, d->input->account, ret_properties, ret_sequence);
}

enum store_result service_properties_look(struct decision *d, const char *service,
                                          struct bytes account,
                                          struct service_properties *ret_properties)
{
    uint64_t sequence;
    enum store_result result = find(d, service, account, ret_properties, &sequence);

    decision_saw(d, sequence);
    return result;
}

static void write_properties(struct decision *d, const struct service_properties *properties)
{
    unsigned version = version_of(properties);
    struct text rules, out;

    text_init(&rules, d->arena, 256);
    cors_rules_encode(&rules, &properties->cors);
    text_init(&out, d->arena, rules.len + 64);
    encode_u8(&out, (uint8_t)version);
    encode_bytes(&out, text_bytes(&rules));
    encode_bytes(&out, properties->default_version);
    encode_u8(&out, properties->website.enabled);
    encode_bytes(&out, properties->website.index_document);
    encode_bytes(&out, properties->website.error_document);
    encode_bytes(&out, properties->website.default_index);
    encode_u64(&out, properties->share_retention_days);
    if (version >= RECORD_VERSION_ANALYTICS) {
        encode_u8(&out, (uint8_t)properties->logging.kinds);
        encode_u8(&out, (uint8_t)properties->logging.version);
        encode_u64(&out, properties->logging.retention_days);
        encode_metrics(&out, &properties->hour_metrics);
        encode_metrics(&out, &properties->minute_metrics);
    }
    if (version >= RECORD_VERSION_RETENTION) {
        encode_u64(&out, properties->blob_retention_days);
        encode_u8(&out, properties->allows_permanent_delete);
    }
    if (version >= RECORD_VERSION_CONTAINERS)
        encode_u64(&out, properties->container_retention_days);
    if (version >= RECORD_VERSION_VERSIONING)
        encode_u8(&out, properties->is_versioning_enabled);
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

static service_properties_changed *watcher;

void service_properties_watch(service_properties_changed *changed)
{
    watcher = changed;
}

struct properties_change {
    struct commit_callback base;
    struct bytes account;
};

static void run_change(struct commit_callback *change)
{
    const struct properties_change *of = (const struct properties_change *)(void *)change;

    if (watcher)
        watcher(of->account);
}

static void notify_change(struct decision *d)
{
    struct properties_change *change = arena_alloc(d->arena, sizeof *change);

    change->base.run = run_change;
    change->account = d->input->account;
    decision_on_commit(d, &change->base);
}

/* Properties that were not sent remain unchanged. */
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
    if (p->has_container_retention)
        properties.container_retention_days = p->properties.container_retention_days;
    if (p->has_versioning)
        properties.is_versioning_enabled = p->properties.is_versioning_enabled;
    if (p->has_blob_retention) {
        properties.blob_retention_days = p->properties.blob_retention_days;
        properties.allows_permanent_delete = p->properties.allows_permanent_delete;
    }
    if (p->has_logging)
        properties.logging = p->properties.logging;
    if (p->has_hour_metrics)
        properties.hour_metrics = p->properties.hour_metrics;
    if (p->has_minute_metrics)
        properties.minute_metrics = p->properties.minute_metrics;
    write_properties(d, &properties);
    notify_change(d);
    return OK;
}

/* ---- Get Service Stats ---- */

/* Returns the statistics of the secondary endpoint. Writes are visible there at once, unless the
 * endpoint lags. rest: Get-Blob-Service-Stats; decisions: 65, 535 */
enum error get_service_stats_decide(struct decision *d,
                                    const struct get_service_stats_parameters *p,
                                    struct get_service_stats_result *r)
{
    (void)p;
    r->last_sync = store_shows_until(d->store, d->now);
    return OK;
}
