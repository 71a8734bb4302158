/* See properties_xml.h. */
#include "properties/properties_xml.h"

#include "service/operation.h"

/* ---- output ---- */

static void add_bool(struct text *out, const char *name, bool is_true)
{
    xml_element_string(out, name, is_true ? "true" : "false");
}

static void add_retention(struct text *out, uint32_t days)
{
    xml_open(out, "RetentionPolicy");
    add_bool(out, "Enabled", days > 0);
    if (days > 0)
        xml_element_u64(out, "Days", days);
    xml_close(out, "RetentionPolicy");
}

/* Writes the elements in the order of the recordings. */
void logging_xml(struct text *out, const struct analytics_logging *logging)
{
    xml_open(out, "Logging");
    xml_element_string(out, "Version", logging->version == 2 ? "2.0" : "1.0");
    add_bool(out, "Read", logging->kinds & LOGS_READS);
    add_bool(out, "Write", logging->kinds & LOGS_WRITES);
    add_bool(out, "Delete", logging->kinds & LOGS_DELETES);
    add_retention(out, logging->retention_days);
    xml_close(out, "Logging");
}

void metrics_xml(struct text *out, const char *name, const struct analytics_metrics *metrics)
{
    xml_open(out, name);
    xml_element_string(out, "Version", "1.0");
    add_bool(out, "Enabled", metrics->enabled);
    if (metrics->enabled)
        add_bool(out, "IncludeAPIs", metrics->includes_apis);
    add_retention(out, metrics->retention_days);
    xml_close(out, name);
}

/* ---- input ---- */

enum error xml_refuse_child_when_off(struct call *call, const struct xml_node *node,
                                     const char *child)
{
    struct bytes reason;

    if (!xml_text(node, child).ptr)
        return OK;
    reason = arena_printf(call->arena, "Element %s is only expected when %.*s/Enabled is enabled.",
                          child, BYTES_ARG(node->name));
    return xml_fail(call, node, arena_string(call->arena, reason));
}

/* Fails with the service's message. The one with "only " was reported by users; the one without is
 * modelled on it. decision: 266 */
static enum error fail_days(struct call *call, const struct xml_node *node, const char *only)
{
    struct bytes reason =
        arena_printf(call->arena, "Element Days is %sexpected when %.*s is enabled.", only,
                     BYTES_ARG(node->name));

    return xml_fail(call, node, arena_string(call->arena, reason));
}

enum error retention_read(struct call *call, const struct xml_node *node, uint32_t *ret_days)
{
    static const char *const parts[] = { "Enabled", "Days", "AllowPermanentDelete", NULL };
    struct bytes days = xml_text(node, "Days");
    uint64_t count;
    bool enabled;
    enum error e;

    *ret_days = 0;

    e = xml_expect_children(call, node, parts);
    if (e)
        return e;
    e = xml_bool(call, node, "Enabled", &enabled);
    if (e)
        return e;
    if (!enabled && days.ptr)
        return fail_days(call, node, "only ");
    if (!enabled)
        return OK;
    if (!days.ptr)
        return fail_days(call, node, "");
    if (!bytes_parse_u64(days, RETENTION_DAYS_MAX, &count) || count == 0)
        return xml_fail(call, node,
                        "Retention days must be greater than 0 and less than or equal to 365 "
                        "days.");
    *ret_days = (uint32_t)count;
    return OK;
}

/* Parses Version and RetentionPolicy of a logging or metrics section. Sets *ret_version to 1, or to
 * 2 if that is allowed. */
static enum error read_common(struct call *call, const struct xml_node *node, bool may_be_2,
                              unsigned *ret_version, uint32_t *ret_days)
{
    const struct xml_node *retention = xml_child(node, "RetentionPolicy");
    struct bytes version = xml_text(node, "Version");

    *ret_version = may_be_2 && bytes_is(version, "2.0") ? 2 : 1;
    *ret_days = 0;
    if (version.ptr && *ret_version == 1 && !bytes_is(version, "1.0"))
        return xml_fail_value(call, "Version", version,
                              may_be_2 ? "Versions are 1.0 and 2.0." : "The only version is 1.0.");
    return retention ? retention_read(call, retention, ret_days) : OK;
}

enum error logging_read(struct call *call, const struct xml_node *node,
                        struct analytics_logging *ret_logging)
{
    static const char *const parts[] = { "Version",         "Read", "Write", "Delete",
                                         "RetentionPolicy", NULL };
    static const struct {
        const char *name;
        enum analytics_kind kind;
    } kinds[] = { { "Read", LOGS_READS }, { "Write", LOGS_WRITES }, { "Delete", LOGS_DELETES } };
    bool may_be_2 = call->service->sections & SECTION_LOGGING_2;
    enum error e = xml_expect_children(call, node, parts);

    *ret_logging = (struct analytics_logging){ .version = 1 };
    if (!e)
        e = read_common(call, node, may_be_2, &ret_logging->version, &ret_logging->retention_days);
    for (size_t i = 0; !e && i < sizeof kinds / sizeof kinds[0]; i++) {
        bool on = false;

        e = xml_bool(call, node, kinds[i].name, &on);
        if (on)
            ret_logging->kinds |= kinds[i].kind;
    }
    return e;
}

/* IncludeAPIs is "required only if metrics are enabled". */
enum error metrics_read(struct call *call, const struct xml_node *node,
                        struct analytics_metrics *ret_metrics)
{
    static const char *const parts[] = { "Version", "Enabled", "IncludeAPIs", "RetentionPolicy",
                                         NULL };
    unsigned version;
    enum error e = xml_expect_children(call, node, parts);

    *ret_metrics = (struct analytics_metrics){ .enabled = false };
    if (!e)
        e = xml_bool(call, node, "Enabled", &ret_metrics->enabled);
    if (!e)
        e = read_common(call, node, false, &version, &ret_metrics->retention_days);
    if (e)
        return e;
    if (!ret_metrics->enabled)
        return xml_refuse_child_when_off(call, node, "IncludeAPIs");
    return xml_bool(call, node, "IncludeAPIs", &ret_metrics->includes_apis);
}
