/* XML of Get and Set Service Properties and Get Service Stats of every service: see
 * service_properties.h.
 *
 * Properties returned by Get can always be sent to Set again. properties_xml.h has the sections of
 * Storage Analytics.
 * rest: Set-Blob-Service-Properties, Set-Queue-Service-Properties, Set-Table-Service-Properties,
 * Get-Blob-Service-Stats, Get-Queue-Service-Stats, Get-Table-Service-Stats */
#include "properties/properties_xml.h"
#include "service/operation.h"
#include "properties/service_properties.h"
#include "service/xml_body.h"

#define PAGE_PATH_MAX 255

/* ---- Get ---- */

OPERATION_CHECKS_NOTHING(get_service_properties)

/* Returns true if the service has the section and the client's version includes it. */
static bool shows(const struct call *call, enum service_section section, const char *since)
{
    return (call->service->sections & section) && call_since(call, since);
}

static void add_if_set(struct text *out, const char *name, struct bytes value)
{
    if (value.len > 0)
        xml_element(out, name, value);
}

/* Adds metrics and CORS rules. rest: Version-2013-08-15 */
static void add_metrics(struct text *out, const struct call *call,
                        const struct service_properties *properties)
{
    if (!call_since(call, "2013-08-15")) {
        metrics_xml(out, "Metrics", &properties->hour_metrics);
        return;
    }
    metrics_xml(out, "HourMetrics", &properties->hour_metrics);
    metrics_xml(out, "MinuteMetrics", &properties->minute_metrics);
    cors_rules_xml(out, &properties->cors);
}

static void add_website(struct text *out, const struct static_website *website,
                        bool knows_default_index)
{
    xml_open(out, "StaticWebsite");
    xml_element_string(out, "Enabled", website->enabled ? "true" : "false");
    add_if_set(out, "IndexDocument", website->index_document);
    if (knows_default_index)
        add_if_set(out, "DefaultIndexDocumentPath", website->default_index);
    add_if_set(out, "ErrorDocument404Path", website->error_document);
    xml_close(out, "StaticWebsite");
}

static void add_delete_retention(struct text *out, const struct service_properties *properties,
                                 bool knows_permanent)
{
    uint32_t days = properties->blob_retention_days;

    xml_open(out, "DeleteRetentionPolicy");
    xml_element_string(out, "Enabled", days > 0 ? "true" : "false");
    if (days > 0)
        xml_element_u64(out, "Days", days);
    if (knows_permanent)
        xml_element_string(out, "AllowPermanentDelete",
                           properties->allows_permanent_delete ? "true" : "false");
    xml_close(out, "DeleteRetentionPolicy");
}

/* Adds a retention policy with the name used by the management API; no version of the data-plane
 * API has an element for it. decisions: 345, 803, 811 */
static void add_file_retention_policy(struct text *out, const char *policy, uint32_t days)
{
    xml_open(out, policy);
    xml_element_string(out, "Enabled", "true");
    xml_element_u64(out, "Days", days);
    xml_close(out, policy);
}

/* Writes the elements in the order of the recordings. Elements added by later versions are sent
 * only to clients of those versions. */
void get_service_properties_answer(struct answer *a,
                                   const struct get_service_properties_parameters *p,
                                   const struct get_service_properties_result *r)
{
    struct text out;

    (void)p;
    text_init(&out, a->arena, 2048);
    xml_begin(&out);
    xml_open(&out, "StorageServiceProperties");
    if (a->call->service->sections & SECTION_LOGGING)
        logging_xml(&out, &r->properties.logging);
    add_metrics(&out, a->call, &r->properties);
    if (shows(a->call, SECTION_DELETE_RETENTION, "2017-07-29"))
        add_delete_retention(&out, &r->properties, call_since(a->call, "2020-02-10"));
    if (shows(a->call, SECTION_STATIC_WEBSITE, "2018-03-28"))
        add_website(&out, &r->properties.website, call_since(a->call, "2019-12-12"));
    if (r->properties.default_version.len > 0 &&
        shows(a->call, SECTION_DEFAULT_VERSION, "2011-08-18"))
        xml_element(&out, "DefaultServiceVersion", r->properties.default_version);
    if (shows(a->call, SECTION_PROTOCOLS, "2020-02-10"))
        text_add_string(&out, "<ProtocolSettings><SMB><Multichannel><Enabled>false</Enabled>"
                              "</Multichannel></SMB></ProtocolSettings>");
    if (r->properties.share_retention_days > 0 &&
        shows(a->call, SECTION_SHARE_RETENTION, "2019-12-12"))
        add_file_retention_policy(&out, "ShareDeleteRetentionPolicy",
                                  r->properties.share_retention_days);
    if (r->properties.container_retention_days > 0 &&
        shows(a->call, SECTION_CONTAINER_RETENTION, "2019-12-12"))
        add_file_retention_policy(&out, "ContainerDeleteRetentionPolicy",
                                  r->properties.container_retention_days);
    if (r->properties.is_versioning_enabled && shows(a->call, SECTION_VERSIONING, "2019-12-12"))
        xml_element_string(&out, "IsVersioningEnabled", "true");
    xml_close(&out, "StorageServiceProperties");
    answer_xml(a, &out);
}

/* ---- Set: one function per section ---- */

typedef enum error section_fn(struct call *call, const struct xml_node *node,
                              struct set_service_properties_parameters *p);

static enum error read_logging(struct call *call, const struct xml_node *node,
                               struct set_service_properties_parameters *p)
{
    p->has_logging = true;
    return logging_read(call, node, &p->properties.logging);
}

static enum error read_hour_metrics(struct call *call, const struct xml_node *node,
                                    struct set_service_properties_parameters *p)
{
    p->has_hour_metrics = true;
    return metrics_read(call, node, &p->properties.hour_metrics);
}

static enum error read_minute_metrics(struct call *call, const struct xml_node *node,
                                      struct set_service_properties_parameters *p)
{
    p->has_minute_metrics = true;
    return metrics_read(call, node, &p->properties.minute_metrics);
}

static enum error read_cors(struct call *call, const struct xml_node *node,
                            struct set_service_properties_parameters *p)
{
    p->has_cors = true;
    return cors_rules_read(call, node, &p->properties.cors);
}

/* An empty element removes the default version. */
static enum error read_default_version(struct call *call, const struct xml_node *node,
                                       struct set_service_properties_parameters *p)
{
    struct bytes version = bytes_trim(node->text);

    if (version.len > 0 && !call_version_is_valid(version))
        return xml_fail_value(call, "DefaultServiceVersion", version, "Not a version.");
    p->has_default_version = true;
    p->properties.default_version = version;
    return OK;
}

/* rest: Set-Blob-Service-Properties "DeleteRetentionPolicy" */
static enum error read_delete_retention(struct call *call, const struct xml_node *node,
                                        struct set_service_properties_parameters *p)
{
    enum error e = retention_read(call, node, &p->properties.blob_retention_days);

    p->has_blob_retention = true;
    if (!e && xml_text(node, "AllowPermanentDelete").ptr)
        e = xml_bool(call, node, "AllowPermanentDelete", &p->properties.allows_permanent_delete);
    return e;
}

static enum error read_share_retention(struct call *call, const struct xml_node *node,
                                       struct set_service_properties_parameters *p)
{
    p->has_share_retention = true;
    return retention_read(call, node, &p->properties.share_retention_days);
}

static enum error read_container_retention(struct call *call, const struct xml_node *node,
                                           struct set_service_properties_parameters *p)
{
    p->has_container_retention = true;
    return retention_read(call, node, &p->properties.container_retention_days);
}

static enum error read_versioning(struct call *call, const struct xml_node *node,
                                  struct set_service_properties_parameters *p)
{
    bool *enabled = &p->properties.is_versioning_enabled;
    struct bytes text = bytes_trim(node->text);

    p->has_versioning = true;
    *enabled = bytes_is_nocase(text, "true");
    if (!*enabled && !bytes_is_nocase(text, "false"))
        return xml_fail_value(call, "IsVersioningEnabled", text, "Neither true nor false.");
    return OK;
}

/* Parses the name or path of a page, and removes a leading slash from a path. decision: 108 */
static enum error read_page(struct call *call, const struct xml_node *node, const char *element,
                            bool is_path, struct bytes *ret_page)
{
    struct bytes page = xml_text(node, element);

    if (is_path && page.len > 0 && page.ptr[0] == '/')
        page = bytes_from(page, 1);
    if (page.len > PAGE_PATH_MAX || (!is_path && page.ptr && memchr(page.ptr, '/', page.len)))
        return xml_fail_value(call, element, page, "Too long, or a path where a name is expected.");
    *ret_page = page;
    return OK;
}

static enum error read_static_website(struct call *call, const struct xml_node *node,
                                      struct set_service_properties_parameters *p)
{
    static const char *const parts[] = { "Enabled", "IndexDocument", "ErrorDocument404Path",
                                         "DefaultIndexDocumentPath", NULL };
    struct static_website *website = &p->properties.website;
    enum error e;

    e = xml_expect_children(call, node, parts);
    if (e)
        return e;
    e = xml_bool(call, node, "Enabled", &website->enabled);
    for (size_t i = 1; !e && !website->enabled && parts[i]; i++)
        e = xml_refuse_child_when_off(call, node, parts[i]);
    if (!e)
        e = read_page(call, node, "IndexDocument", false, &website->index_document);
    if (!e)
        e = read_page(call, node, "ErrorDocument404Path", true, &website->error_document);
    if (!e)
        e = read_page(call, node, "DefaultIndexDocumentPath", true, &website->default_index);
    if (!e && website->index_document.len > 0 && website->default_index.len > 0)
        e = xml_fail(call, node,
                     "IndexDocument and DefaultIndexDocumentPath are mutually exclusive.");
    p->has_website = true;
    return e;
}

/* Parses <name><element>false</element></name>; any of it may be missing. */
static enum error read_switch(struct call *call, const struct xml_node *protocol, const char *name,
                              const char *element)
{
    const char *const parts[] = { element, NULL };
    const struct xml_node *node = xml_child(protocol, name);
    bool on = false;
    enum error e;

    if (!node)
        return OK;
    e = xml_expect_children(call, node, parts);
    if (!e && xml_child(node, element))
        e = xml_bool(call, node, element, &on);
    if (!e && on)
        e = call_fail(call, E_NotImplemented,
                      "SMB Multichannel and required encryption in transit are not offered.");
    return e;
}

static enum error read_protocols(struct call *call, const struct xml_node *node,
                                 struct set_service_properties_parameters *p)
{
    static const char *const protocols[] = { "SMB", "NFS", NULL };
    static const char *const parts[] = { "Multichannel", "EncryptionInTransit", NULL };
    enum error e = xml_expect_children(call, node, protocols);

    (void)p;
    for (size_t i = 0; !e && protocols[i]; i++) {
        const struct xml_node *protocol = xml_child(node, protocols[i]);

        if (!protocol)
            continue;
        e = xml_expect_children(call, protocol, &parts[i]); /* NFS has no Multichannel */
        if (!e)
            e = read_switch(call, protocol, "Multichannel", "Enabled");
        if (!e)
            e = read_switch(call, protocol, "EncryptionInTransit", "Required");
    }
    return e;
}

static const struct section {
    const char *name;
    enum service_section of;
    section_fn *read;
} sections[] = {
    { "Logging", SECTION_LOGGING, read_logging },
    { "HourMetrics", SECTION_OF_ALL, read_hour_metrics },
    { "MinuteMetrics", SECTION_OF_ALL, read_minute_metrics },
    { "Cors", SECTION_OF_ALL, read_cors },
    { "DefaultServiceVersion", SECTION_DEFAULT_VERSION, read_default_version },
    { "DeleteRetentionPolicy", SECTION_DELETE_RETENTION, read_delete_retention },
    { "StaticWebsite", SECTION_STATIC_WEBSITE, read_static_website },
    { "ProtocolSettings", SECTION_PROTOCOLS, read_protocols },
    { "ShareDeleteRetentionPolicy", SECTION_SHARE_RETENTION, read_share_retention },
    { "ContainerDeleteRetentionPolicy", SECTION_CONTAINER_RETENTION, read_container_retention },
    { "IsVersioningEnabled", SECTION_VERSIONING, read_versioning },
};
#define SECTION_COUNT (sizeof sections / sizeof sections[0])

static bool service_has(const struct call *call, const struct section *section)
{
    return section->of == SECTION_OF_ALL || (call->service->sections & section->of);
}

static enum error read_sections(struct call *call, const struct xml_node *root,
                                struct set_service_properties_parameters *p)
{
    const char *names[SECTION_COUNT + 1] = { NULL };
    size_t count = 0;
    enum error e;

    for (size_t i = 0; i < SECTION_COUNT; i++) {
        if (service_has(call, &sections[i]))
            names[count++] = sections[i].name;
    }
    e = xml_expect_children(call, root, names);
    for (size_t i = 0; !e && i < SECTION_COUNT; i++) {
        const struct xml_node *node = xml_child(root, sections[i].name);

        if (node)
            e = sections[i].read(call, node, p);
    }
    return e;
}

/* Refuses an empty body before the body is received. */
enum error set_service_properties_check(struct call *call,
                                        struct set_service_properties_parameters *p)
{
    (void)p;
    if (call->request->content_length == 0)
        return xml_fail(call, NULL, "The body is empty.");
    return OK;
}

enum error set_service_properties_parse(struct call *call,
                                        struct set_service_properties_parameters *p)
{
    const struct xml_node *root;
    enum error e = xml_body(call, "StorageServiceProperties", &root);

    if (!e && root->is_empty_tag)
        e = xml_fail_empty_root(call);
    return e ? e : read_sections(call, root, p);
}

OPERATION_ANSWERS_NOTHING(set_service_properties)

/* ---- Get Service Stats ---- */

/* Only the secondary endpoint supports it. The primary endpoint's response is as recorded. */
enum error get_service_stats_check(struct call *call, struct get_service_stats_parameters *p)
{
    (void)p;
    if (!call->secondary)
        return call_fail_query(call, E_InvalidQueryParameterValue, "comp", call_query(call, "comp"),
                               "");
    return OK;
}

void get_service_stats_answer(struct answer *a, const struct get_service_stats_parameters *p,
                              const struct get_service_stats_result *r)
{
    struct text out;

    (void)p;
    text_init(&out, a->arena, 256);
    xml_begin(&out);
    xml_open(&out, "StorageServiceStats");
    xml_open(&out, "GeoReplication");
    xml_element_string(&out, "Status", "live");
    xml_element_http_date(&out, "LastSyncTime", r->last_sync);
    xml_close(&out, "GeoReplication");
    xml_close(&out, "StorageServiceStats");
    answer_xml(a, &out);
}
