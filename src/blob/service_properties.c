/* Get Blob Service Properties, Set Blob Service Properties.
 *
 * What can be set is the CORS rules. Logging, metrics, soft delete, static websites and another
 * default version are things that this server does not do: switching one of them on is refused
 * with 501 (promise 5), saying that it is off is accepted, for it is true. What is read back can
 * so always be set again.
 *
 * Record: INNER "p" in partition (account space, ""): u8 1 (version); bytes CORS rules
 * (cors_rules.c). No record: nothing was ever set.
 * rest: Get-Blob-Service-Properties, Set-Blob-Service-Properties */
#include "base/codec.h"
#include "blob/blob.h"
#include "blob/cors_rules.h"
#include "blob/xml_body.h"

#define RECORD_VERSION     1
#define ANALYTICS_VERSION  "1.0"
#define RETENTION_DAYS_MAX 365

static const struct bytes record_key = BYTES("p");

struct service_properties {
    struct bytes cors; /* encoded; empty: none */
};

/* ---- the record ---- */

static enum error properties_read(struct decision *d, struct service_properties *ret_properties)
{
    struct service_properties properties = { .cors = { "", 0 } };
    struct record record;
    struct decoder in;
    enum store_result result;

    result = snapshot_get(d->before, RECORD_INNER, record_key, d->arena, &record);
    if (result == STORE_OK) {
        decoder_init(&in, record.value);
        if (decode_u8(&in) != RECORD_VERSION)
            return fail_store(d, STORE_CORRUPT);
        properties.cors = decode_bytes(&in);
        if (!decoder_ok(&in))
            return fail_store(d, STORE_CORRUPT);
    } else if (result != STORE_NOT_FOUND) {
        return fail_store(d, result);
    }
    *ret_properties = properties;
    return OK;
}

static void properties_write(struct decision *d, const struct service_properties *properties)
{
    struct text out;

    text_init(&out, d->arena, properties->cors.len + 8);
    encode_u8(&out, RECORD_VERSION);
    encode_bytes(&out, properties->cors);
    changes_put(d->changes, RECORD_INNER, record_key, text_bytes(&out), NULL, 0);
}

/* ---- Get ---- */

static void add_metrics(struct text *out, const char *name)
{
    xml_open(out, name);
    text_add_string(out, "<Version>" ANALYTICS_VERSION "</Version><Enabled>false</Enabled>"
                         "<RetentionPolicy><Enabled>false</Enabled></RetentionPolicy>");
    xml_close(out, name);
}

/* Elements in the order of the recordings; those that younger versions brought are given to them
 * only. */
enum error get_blob_service_properties(struct decision *d)
{
    struct service_properties properties;
    struct text out;
    enum error e;

    e = properties_read(d, &properties);
    if (e)
        return e;
    text_init(&out, d->arena, 2048);
    xml_begin(&out);
    xml_open(&out, "StorageServiceProperties");
    text_add_string(&out, "<Logging><Version>" ANALYTICS_VERSION "</Version><Read>false</Read>"
                          "<Write>false</Write><Delete>false</Delete>"
                          "<RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></Logging>");
    add_metrics(&out, "HourMetrics");
    add_metrics(&out, "MinuteMetrics");
    if (!cors_rules_xml(&out, properties.cors))
        return fail_store(d, STORE_CORRUPT);
    if (call_since(d->call, "2017-07-29"))
        text_add_string(&out,
                        "<DeleteRetentionPolicy><Enabled>false</Enabled></DeleteRetentionPolicy>");
    if (call_since(d->call, "2018-03-28"))
        text_add_string(&out, "<StaticWebsite><Enabled>false</Enabled></StaticWebsite>");
    xml_close(&out, "StorageServiceProperties");
    answer_xml(d, 200, &out);
    return OK;
}

/* ---- Set: one function a section ---- */

typedef enum error section_fn(struct decision *d, const struct xml_node *node,
                              struct service_properties *properties);

/* An element that makes sense only where its section is switched on (reason as recorded). */
static enum error refuse_child_when_off(struct decision *d, const struct xml_node *node,
                                        const char *child)
{
    struct bytes reason;

    if (!xml_text(node, child).ptr)
        return OK;
    reason = arena_printf(d->arena, "Element %s is only expected when %.*s/Enabled is enabled.",
                          child, BYTES_ARG(node->name));
    return fail_xml(d, arena_string(d->arena, reason));
}

/* Enabled and Days of a retention policy; the policy is a section itself or stands in one. */
static enum error read_retention(struct decision *d, const struct xml_node *node, bool *ret_enabled)
{
    static const char *const parts[] = { "Enabled", "Days", "AllowPermanentDelete", NULL };
    struct bytes days = xml_text(node, "Days");
    uint64_t count;
    enum error e;

    e = xml_expect_children(d, node, parts);
    if (e)
        return e;
    e = xml_bool(d, node, "Enabled", ret_enabled);
    if (e)
        return e;
    if (!*ret_enabled)
        return refuse_child_when_off(d, node, "Days");
    if (!days.ptr)
        return fail_xml_missing(d, "Days");
    if (!bytes_parse_u64(days, RETENTION_DAYS_MAX, &count) || count == 0)
        return fail_xml(d, "Retention days must be greater than 0 and less than or equal to 365 "
                           "days.");
    return OK;
}

/* Version and RetentionPolicy of logging and of metrics. */
static enum error read_analytics(struct decision *d, const struct xml_node *node, bool *ret_retains)
{
    const struct xml_node *retention = xml_child(node, "RetentionPolicy");
    struct bytes version = xml_text(node, "Version");

    *ret_retains = false;
    if (version.ptr && !bytes_is(version, ANALYTICS_VERSION))
        return fail_xml_value(d, "Version", version, "The only version is " ANALYTICS_VERSION ".");
    return retention ? read_retention(d, retention, ret_retains) : OK;
}

static enum error read_logging(struct decision *d, const struct xml_node *node,
                               struct service_properties *properties)
{
    static const char *const parts[] = { "Version",         "Read", "Write", "Delete",
                                         "RetentionPolicy", NULL };
    static const char *const kinds[] = { "Read", "Write", "Delete" };
    bool wanted, on;
    enum error e;

    (void)properties;
    e = xml_expect_children(d, node, parts);
    if (e)
        return e;
    e = read_analytics(d, node, &wanted);
    for (size_t i = 0; !e && i < sizeof kinds / sizeof kinds[0]; i++) {
        e = xml_bool(d, node, kinds[i], &on);
        wanted = wanted || (!e && on);
    }
    if (e)
        return e;
    if (wanted)
        return fail(d, E_NotImplemented, "This server writes no Storage Analytics logs.");
    return OK;
}

static enum error read_metrics(struct decision *d, const struct xml_node *node,
                               struct service_properties *properties)
{
    static const char *const parts[] = { "Version", "Enabled", "IncludeAPIs", "RetentionPolicy",
                                         NULL };
    bool enabled, retains;
    enum error e;

    (void)properties;
    e = xml_expect_children(d, node, parts);
    if (e)
        return e;
    e = xml_bool(d, node, "Enabled", &enabled);
    if (e)
        return e;
    e = read_analytics(d, node, &retains);
    if (e)
        return e;
    if (enabled || retains)
        return fail(d, E_NotImplemented, "This server keeps no Storage Analytics metrics.");
    return refuse_child_when_off(d, node, "IncludeAPIs");
}

static enum error read_cors(struct decision *d, const struct xml_node *node,
                            struct service_properties *properties)
{
    return cors_rules_read(d, node, &properties->cors);
}

static enum error read_default_version(struct decision *d, const struct xml_node *node,
                                       struct service_properties *properties)
{
    (void)properties;
    if (bytes_trim(node->text).len == 0)
        return OK;
    return fail(d, E_NotImplemented,
                "Requests without x-ms-version get the newest version, whatever is set.");
}

static enum error read_delete_retention(struct decision *d, const struct xml_node *node,
                                        struct service_properties *properties)
{
    bool enabled, permanent = false;
    enum error e;

    (void)properties;
    e = read_retention(d, node, &enabled);
    if (e)
        return e;
    if (xml_text(node, "AllowPermanentDelete").ptr) {
        e = xml_bool(d, node, "AllowPermanentDelete", &permanent);
        if (e)
            return e;
    }
    if (enabled || permanent)
        return fail(d, E_NotImplemented, "This server keeps no deleted blobs.");
    return OK;
}

static enum error read_static_website(struct decision *d, const struct xml_node *node,
                                      struct service_properties *properties)
{
    static const char *const parts[] = { "Enabled", "IndexDocument", "ErrorDocument404Path",
                                         "DefaultIndexDocumentPath", NULL };
    bool enabled;
    enum error e;

    (void)properties;
    e = xml_expect_children(d, node, parts);
    if (e)
        return e;
    e = xml_bool(d, node, "Enabled", &enabled);
    if (e)
        return e;
    if (enabled)
        return fail(d, E_NotImplemented, "This server serves no static websites.");
    for (size_t i = 1; !e && parts[i]; i++)
        e = refuse_child_when_off(d, node, parts[i]);
    return e;
}

static const struct section {
    const char *name;
    section_fn *read;
} sections[] = {
    { "Logging", read_logging },
    { "HourMetrics", read_metrics },
    { "MinuteMetrics", read_metrics },
    { "Cors", read_cors },
    { "DefaultServiceVersion", read_default_version },
    { "DeleteRetentionPolicy", read_delete_retention },
    { "StaticWebsite", read_static_website },
};
#define SECTION_COUNT (sizeof sections / sizeof sections[0])

static enum error read_sections(struct decision *d, const struct xml_node *root,
                                struct service_properties *properties)
{
    const char *names[SECTION_COUNT + 1] = { NULL };
    enum error e;

    for (size_t i = 0; i < SECTION_COUNT; i++)
        names[i] = sections[i].name;
    e = xml_expect_children(d, root, names);
    for (size_t i = 0; !e && i < SECTION_COUNT; i++) {
        const struct xml_node *node = xml_child(root, sections[i].name);

        if (node)
            e = sections[i].read(d, node, properties);
    }
    return e;
}

/* A body of nothing is refused before it is waited for. */
enum error check_set_blob_service_properties(struct decision *d)
{
    if (d->call->request->content_length == 0)
        return fail_xml(d, "The body is empty.");
    return OK;
}

/* Sections that are not in the body stay as they are. */
enum error set_blob_service_properties(struct decision *d)
{
    struct service_properties properties;
    const struct xml_node *root;
    enum error e;

    e = properties_read(d, &properties);
    if (e)
        return e;
    e = xml_body(d, "StorageServiceProperties", &root);
    if (e)
        return e;
    e = read_sections(d, root, &properties);
    if (e)
        return e;
    properties_write(d, &properties);
    answer(d, 202);
    return OK;
}
