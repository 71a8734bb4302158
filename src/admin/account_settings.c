/* See account_settings.h. */
#include "admin/account_settings.h"

#include "base/xml.h"
#include "properties/service_properties.h"
#include "request/cell_request.h"

#define XML_LIMITS ((struct xml_limits){ .depth_max = 16, .nodes_max = 4096 })

static const struct row {
    const char *name;
    bool has_days;
    const char *service; /* whose property it is; NULL: in the record of the account */
    const char *element; /* of its property */
} rows[ACCOUNT_SETTINGS] = {
    [SETTING_VERSIONING] = { "versioning", false, "blob", "IsVersioningEnabled" },
    [SETTING_BLOB_RETENTION] = { "blobRetentionDays", true, "blob", "DeleteRetentionPolicy" },
    [SETTING_PERMANENT_DELETE] = { "permanentDelete", false, "blob", "DeleteRetentionPolicy" },
    [SETTING_CONTAINER_RETENTION] = { "containerRetentionDays", true, "blob",
                                      "ContainerDeleteRetentionPolicy" },
    [SETTING_SHARE_RETENTION] = { "shareRetentionDays", true, "file",
                                  "ShareDeleteRetentionPolicy" },
    [SETTING_PUBLIC_ACCESS] = { "publicAccess", false, NULL, NULL },
    [SETTING_SHARED_KEY] = { "sharedKey", false, NULL, NULL },
    [SETTING_ACCESS_TRACKING] = { "lastAccessTracking", false, NULL, NULL },
};
static const char permanent_element[] = "AllowPermanentDelete";

/* ---- values ---- */

static bool read_value(const struct row *row, struct bytes value, enum setting_state *ret_state,
                       uint32_t *ret_days)
{
    uint64_t days = 0;

    if (bytes_is(value, "off"))
        *ret_state = SETTING_OFF;
    else if (row->has_days && bytes_parse_u64(value, RETENTION_DAYS_MAX, &days))
        *ret_state = days > 0 ? SETTING_ON : SETTING_OFF;
    else if (!row->has_days && bytes_is(value, "on"))
        *ret_state = SETTING_ON;
    else
        return false;
    *ret_days = (uint32_t)days;
    return true;
}

static const char *names_of_all(struct arena *arena)
{
    struct text out;

    text_init(&out, arena, 128);
    for (size_t i = 0; i < ACCOUNT_SETTINGS; i++)
        text_printf(&out, "%s%s", i > 0 ? ", " : "", rows[i].name);
    return arena_string(arena, text_bytes(&out));
}

const char *account_settings_add(struct account_settings *settings, struct arena *arena,
                                 struct bytes name, struct bytes value)
{
    size_t i = 0;

    while (i < ACCOUNT_SETTINGS && !bytes_is(name, rows[i].name))
        i++;
    if (i == ACCOUNT_SETTINGS)
        return arena_printf(arena, "%.*s is not a setting; settings are %s.%c", BYTES_ARG(name),
                            names_of_all(arena), '\0')
            .ptr;
    if (settings->state[i] != SETTING_UNCHANGED)
        return arena_printf(arena, "%s is given twice.%c", rows[i].name, '\0').ptr;
    if (read_value(&rows[i], value, &settings->state[i], &settings->days[i]))
        return NULL;
    if (rows[i].has_days)
        return arena_printf(arena, "%s must be a number of days from 1 to %u, or off.%c",
                            rows[i].name, RETENTION_DAYS_MAX, '\0')
            .ptr;
    return arena_printf(arena, "%s must be on or off.%c", rows[i].name, '\0').ptr;
}

bool account_settings_of_record(const struct account_settings *settings)
{
    bool any = false;

    for (size_t i = 0; i < ACCOUNT_SETTINGS; i++)
        any |= !rows[i].service && settings->state[i] != SETTING_UNCHANGED;
    return any;
}

static void set_switch(bool *is, enum setting_state state, enum setting_state true_for)
{
    if (state != SETTING_UNCHANGED)
        *is = state == true_for;
}

void account_settings_change_record(const struct account_settings *settings,
                                    struct account_record *record)
{
    set_switch(&record->no_public_access, settings->state[SETTING_PUBLIC_ACCESS], SETTING_OFF);
    set_switch(&record->no_shared_key, settings->state[SETTING_SHARED_KEY], SETTING_OFF);
    set_switch(&record->tracks_access, settings->state[SETTING_ACCESS_TRACKING], SETTING_ON);
}

/* ---- service properties ---- */

/* Sends Get or Set Service Properties of the account. */
static void ask(const struct endpoint *endpoint, struct arena *arena, struct bytes account,
                struct bytes body, struct internal_response *ret_answer)
{
    const struct http_header version = { .name = BYTES("x-ms-version"),
                                         .value = BYTES("2026-10-06"),
                                         .name_as_sent = BYTES("x-ms-version") };
    const struct internal_request asked = { .method = body.len > 0 ? METHOD_PUT : METHOD_GET,
                                            .path =
                                                arena_printf(arena, "/%.*s/", BYTES_ARG(account)),
                                            .query = BYTES("restype=service&comp=properties"),
                                            .headers = &version,
                                            .header_count = 1,
                                            .body = body };

    cell_request_run(endpoint, arena, &asked, ret_answer);
}

/* Returns the root element of a service's properties, or NULL if they cannot be read, with an error
 * in *ret_answer. */
static const struct xml_node *read_properties(const struct endpoint *endpoint, struct arena *arena,
                                              struct bytes account,
                                              struct internal_response *ret_answer)
{
    const struct xml_node *root;
    struct xml_error problem;

    ask(endpoint, arena, account, bytes_of(NULL, 0), ret_answer);
    if (ret_answer->error)
        return NULL;
    root = xml_parse(arena, ret_answer->response.body, XML_LIMITS, &problem);
    if (!root)
        ret_answer->error = E_InternalError;
    return root;
}

static struct bytes text_of(const struct xml_node *parent, const char *name)
{
    const struct xml_node *node = parent ? xml_child(parent, name) : NULL;

    return node ? node->text : bytes_of("", 0);
}

static void write_policy(struct text *out, const char *element, uint32_t days,
                         struct bytes permanent)
{
    xml_open(out, element);
    xml_element_string(out, "Enabled", days > 0 ? "true" : "false");
    if (days > 0)
        xml_element_u64(out, "Days", days);
    if (permanent.len > 0)
        xml_element(out, permanent_element, permanent);
    xml_close(out, element);
}

/* Writes the retention of blobs, whose two settings are one section: one that is not given is
 * unchanged. */
static void write_blob_policy(struct text *out, const struct account_settings *settings,
                              const struct xml_node *before)
{
    enum setting_state permanent = settings->state[SETTING_PERMANENT_DELETE];
    const char *element = rows[SETTING_BLOB_RETENTION].element;
    const struct xml_node *policy = xml_child(before, element);
    uint64_t days = 0;

    if (settings->state[SETTING_BLOB_RETENTION])
        days = settings->days[SETTING_BLOB_RETENTION];
    else if (!bytes_parse_u64(text_of(policy, "Days"), RETENTION_DAYS_MAX, &days))
        days = 0;
    write_policy(out, element, (uint32_t)days,
                 permanent ? bytes_from_string(permanent == SETTING_ON ? "true" : "false")
                           : text_of(policy, permanent_element));
}

/* Returns the sections to set of a service; empty if there are none. */
static struct bytes changed_sections(struct arena *arena, const char *service,
                                     const struct account_settings *settings,
                                     const struct xml_node *before)
{
    struct text out;
    bool has_blob_policy =
        settings->state[SETTING_BLOB_RETENTION] || settings->state[SETTING_PERMANENT_DELETE];

    text_init(&out, arena, 512);
    for (size_t i = 0; i < ACCOUNT_SETTINGS; i++) {
        if (!rows[i].service || strcmp(rows[i].service, service) != 0 || !settings->state[i] ||
            i == SETTING_BLOB_RETENTION || i == SETTING_PERMANENT_DELETE)
            continue;
        if (rows[i].has_days)
            write_policy(&out, rows[i].element, settings->days[i], bytes_of("", 0));
        else
            xml_element_string(&out, rows[i].element,
                               settings->state[i] == SETTING_ON ? "true" : "false");
    }
    if (has_blob_policy && strcmp(service, rows[SETTING_BLOB_RETENTION].service) == 0)
        write_blob_policy(&out, settings, before);
    return text_bytes(&out);
}

static const char *const services[] = { "blob", "file" };

static bool concerns(const struct account_settings *settings, const char *service)
{
    bool any = false;

    for (size_t i = 0; i < ACCOUNT_SETTINGS; i++)
        any |= rows[i].service && strcmp(rows[i].service, service) == 0 && settings->state[i];
    return any;
}

/* Sets the changed sections of a service in one commit. */
static void apply_to(const struct endpoint *endpoint, struct arena *arena, struct bytes account,
                     const char *service, const struct account_settings *settings,
                     struct internal_response *ret_answer)
{
    const struct xml_node *before = read_properties(endpoint, arena, account, ret_answer);
    struct text out;

    if (ret_answer->error)
        return;
    text_init(&out, arena, 512);
    xml_begin(&out);
    xml_open(&out, "StorageServiceProperties");
    text_add(&out, changed_sections(arena, service, settings, before));
    xml_close(&out, "StorageServiceProperties");
    ask(endpoint, arena, account, text_bytes(&out), ret_answer);
}

void account_settings_apply(const struct endpoint_set *endpoints, struct arena *arena,
                            struct bytes account, const struct account_settings *settings,
                            struct internal_response *ret_answer)
{
    *ret_answer = (struct internal_response){ .error = OK };
    for (size_t i = 0; i < sizeof services / sizeof services[0] && !ret_answer->error; i++) {
        const struct endpoint *endpoint = endpoint_find(endpoints, bytes_from_string(services[i]));

        if (!concerns(settings, services[i]))
            continue;
        if (endpoint) {
            apply_to(endpoint, arena, account, services[i], settings, ret_answer);
        } else {
            ret_answer->error = E_NotImplemented;
            ret_answer->detail = arena_printf(arena, "The %s service does not run.", services[i]);
        }
    }
}

/* ---- responses ---- */

static void write_setting(struct json_writer *out, const struct row *row,
                          const struct xml_node *properties)
{
    const struct xml_node *section = xml_child(properties, row->element);
    uint64_t days = 0;

    if (!row->has_days) {
        struct bytes text = row == &rows[SETTING_PERMANENT_DELETE]
                                ? text_of(section, permanent_element)
                                : text_of(properties, row->element);

        json_write_bool(out, row->name, bytes_is(text, "true"));
        return;
    }
    if (!bytes_parse_u64(text_of(section, "Days"), RETENTION_DAYS_MAX, &days))
        days = 0;
    json_write_number(out, row->name, days);
}

void account_settings_write(const struct endpoint_set *endpoints, struct arena *arena,
                            struct bytes account, struct json_writer *out,
                            struct internal_response *ret_answer)
{
    *ret_answer = (struct internal_response){ .error = OK };
    for (size_t i = 0; i < sizeof services / sizeof services[0] && !ret_answer->error; i++) {
        const struct endpoint *endpoint = endpoint_find(endpoints, bytes_from_string(services[i]));
        const struct xml_node *properties =
            endpoint ? read_properties(endpoint, arena, account, ret_answer) : NULL;

        for (size_t j = 0; properties && j < ACCOUNT_SETTINGS; j++)
            if (rows[j].service && strcmp(rows[j].service, services[i]) == 0)
                write_setting(out, &rows[j], properties);
    }
}

void account_settings_write_record(struct json_writer *out, const struct account_record *record)
{
    json_write_bool(out, rows[SETTING_PUBLIC_ACCESS].name, !record->no_public_access);
    json_write_bool(out, rows[SETTING_SHARED_KEY].name, !record->no_shared_key);
    json_write_bool(out, rows[SETTING_ACCESS_TRACKING].name, record->tracks_access);
}
