/* Entities in responses: see entity_json.h. Order and annotations are as recorded. */
#include "base/encode.h"
#include "base/json.h"
#include "table/edm.h"
#include "table/rest/entity_json.h"

#include <assert.h>
#include <math.h>

/* ---- URLs ---- */

/* Writes a key for a URL: quotes doubled, and not escaped, as in the real service. */
static void write_key(struct text *out, struct bytes key)
{
    struct bytes part, rest = key;

    text_add_char(out, '\'');
    do {
        bytes_cut(rest, '\'', &part, &rest);
        text_add(out, percent_encode(out->arena, part, ""));
        if (rest.ptr)
            text_add(out, bytes_of("''", 2));
    } while (rest.ptr);
    text_add_char(out, '\'');
}

void entity_path_write(struct text *out, struct bytes table, struct bytes partition_key,
                       struct bytes row_key)
{
    text_add(out, table);
    text_add_string(out, "(PartitionKey=");
    write_key(out, partition_key);
    text_add_string(out, ",RowKey=");
    write_key(out, row_key);
    text_add_char(out, ')');
}

/* Writes "2017-01-05T03%3A26%3A33.347125Z" and returns its end. */
static char *put_escaped_time(char *to, instant t)
{
    char time[EDM_DATETIME_SIZE];
    size_t length = edm_datetime_format(t, time);

    to = mempcpy(to, time, 13);
    to = mempcpy(to, "%3A", 3);
    to = mempcpy(to, time + 14, 2);
    to = mempcpy(to, "%3A", 3);
    return mempcpy(to, time + 17, length - 17);
}

size_t entity_etag_format(instant timestamp, char buffer[ENTITY_ETAG_SIZE])
{
    static const struct bytes begin = BYTES("W/\"datetime'");
    char *end = put_escaped_time(mempcpy(buffer, begin.ptr, begin.len), timestamp);

    memcpy(end, "'\"", sizeof "'\"");
    return (size_t)(end + 2 - buffer);
}

/* ---- properties ---- */

/* Adds a comma, except at the start of an object or list. */
static void separate(struct text *out)
{
    assert(out->len > 0);
    if (out->ptr[out->len - 1] != '{' && out->ptr[out->len - 1] != '[')
        text_add_char(out, ',');
}

static void write_name(struct text *out, struct bytes name, struct bytes annotation)
{
    separate(out);
    text_add_char(out, '"');
    json_write_text(out, name);
    text_add(out, annotation);
    text_add(out, bytes_of("\":", 2));
}

/* Writes a member, or the start of one, given as text. */
static inline void write_member(struct text *out, const char *member)
{
    separate(out);
    text_add_string(out, member);
}

/* Writes a value that needs no escaping. */
static void write_quoted(struct text *out, struct bytes value)
{
    text_add_char(out, '"');
    text_add(out, value);
    text_add_char(out, '"');
}

static const struct bytes no_annotation = { NULL, 0 };

/* Returns true for values whose type JSON does not convey, including doubles that are not
 * numbers. */
static bool is_annotated(const struct edm_value *value)
{
    switch (value->type) {
    case EDM_INT64:
    case EDM_DATETIME:
    case EDM_GUID:
    case EDM_BINARY:
        return true;
    case EDM_DOUBLE:
        return !isfinite(value->as.real);
    case EDM_STRING:
    case EDM_INT32:
    case EDM_BOOLEAN:
    case EDM_TYPES:
        break;
    }
    return false;
}

static void write_double(struct text *out, double value)
{
    char buffer[EDM_DOUBLE_SIZE];

    if (isnan(value)) {
        text_add_string(out, "\"NaN\"");
    } else if (isinf(value)) {
        text_add_string(out, value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
    } else {
        edm_double_format(value, buffer);
        text_add_string(out, buffer);
    }
}

static void write_datetime(struct text *out, instant t)
{
    char buffer[EDM_DATETIME_SIZE];

    write_quoted(out, bytes_of(buffer, edm_datetime_format(t, buffer)));
}

static void write_value(struct text *out, const struct edm_value *value)
{
    char buffer[GUID_TEXT_SIZE];

    switch (value->type) {
    case EDM_STRING:
        json_write_string(out, value->as.bytes);
        return;
    case EDM_INT32:
        text_add_i64(out, value->as.integer);
        return;
    case EDM_INT64:
        text_add_char(out, '"');
        text_add_i64(out, value->as.integer);
        text_add_char(out, '"');
        return;
    case EDM_DOUBLE:
        write_double(out, value->as.real);
        return;
    case EDM_BOOLEAN:
        text_add_string(out, value->as.boolean ? "true" : "false");
        return;
    case EDM_DATETIME:
        write_datetime(out, value->as.time);
        return;
    case EDM_GUID:
        guid_format(&value->as.guid, buffer);
        write_quoted(out, bytes_from_string(buffer));
        return;
    case EDM_BINARY:
        write_quoted(out, base64_encode(out->arena, value->as.bytes));
        return;
    case EDM_TYPES:
        break;
    }
    assert(false); /* unknown type */
}

static void write_property(struct text *out, const struct entity_view *view, struct bytes name,
                           const struct edm_value *value)
{
    if (view->metadata != ODATA_NO_METADATA && is_annotated(value)) {
        write_name(out, name, (struct bytes)BYTES("@odata.type"));
        write_quoted(out, bytes_from_string(edm_type_name(value->type)));
    }
    write_name(out, name, no_annotation);
    write_value(out, value);
}

/* ---- system properties ---- */

enum { SYSTEM_PARTITION_KEY, SYSTEM_ROW_KEY, SYSTEM_TIMESTAMP, SYSTEM_PROPERTIES };
static const char *const system_names[SYSTEM_PROPERTIES] = { "PartitionKey", "RowKey",
                                                             "Timestamp" };

/* Writes a system property. The type of Timestamp is known, but full metadata includes it. */
static void write_system_property(struct text *out, const struct entity_view *view,
                                  const struct entity *entity, int which)
{
    switch (which) {
    case SYSTEM_PARTITION_KEY:
        write_member(out, "\"PartitionKey\":");
        json_write_string(out, entity->partition_key);
        return;
    case SYSTEM_ROW_KEY:
        write_member(out, "\"RowKey\":");
        json_write_string(out, entity->row_key);
        return;
    default:
        if (view->metadata == ODATA_FULL_METADATA)
            write_member(out, "\"Timestamp@odata.type\":\"Edm.DateTime\"");
        write_member(out, "\"Timestamp\":");
        write_datetime(out, entity->timestamp);
        return;
    }
}

/* Returns the index of the system property, or SYSTEM_PROPERTIES if it is not one. */
static int system_property_of(struct bytes name)
{
    int i = 0;

    while (i < SYSTEM_PROPERTIES && !bytes_is(name, system_names[i]))
        i++;
    return i;
}

/* Writes a property named by $select; null if the entity does not have it. */
static void write_selected(struct text *out, const struct entity_view *view,
                           const struct entity *entity, struct bytes name)
{
    const struct property *property = entity_find(entity, name);

    if (property) {
        write_property(out, view, name, &property->value);
        return;
    }
    write_name(out, name, no_annotation);
    text_add_string(out, "null");
}

/* Writes the selected properties: keys and Timestamp first, in whatever order they are requested.
 * decision: 263 */
static void write_selection(struct text *out, const struct entity_view *view,
                            const struct entity *entity)
{
    bool wanted[SYSTEM_PROPERTIES + 1] = { false };

    for (size_t i = 0; i < view->select_count; i++)
        wanted[system_property_of(view->select[i])] = true;
    for (int i = 0; i < SYSTEM_PROPERTIES; i++)
        if (wanted[i])
            write_system_property(out, view, entity, i);
    for (size_t i = 0; i < view->select_count; i++)
        if (system_property_of(view->select[i]) == SYSTEM_PROPERTIES)
            write_selected(out, view, entity, view->select[i]);
}

static void write_properties(struct text *out, const struct entity_view *view,
                             const struct entity *entity)
{
    if (view->select_count > 0) {
        write_selection(out, view, entity);
        return;
    }
    for (int i = 0; i < SYSTEM_PROPERTIES; i++)
        write_system_property(out, view, entity, i);
    for (size_t i = 0; i < entity->count; i++)
        write_property(out, view, entity->properties[i].name, &entity->properties[i].value);
}

/* ---- entities ---- */

/* Writes "odata.metadata", the URL of the response's description. element: "" for a list. */
static void write_context(struct text *out, const struct entity_view *view, const char *element)
{
    if (view->metadata == ODATA_NO_METADATA)
        return;
    write_member(out, "\"odata.metadata\":\"");
    json_write_text(out, view->url_prefix);
    text_add_string(out, "/$metadata#");
    json_write_text(out, view->table);
    text_add_string(out, element);
    for (size_t i = 0; i < view->select_count; i++) {
        text_add_string(out, i == 0 ? "&$select=" : ",");
        json_write_text(out, view->select[i]);
    }
    text_add_char(out, '"');
}

/* Writes the metadata of an entity, before its properties. */
static void write_annotations(struct text *out, const struct entity_view *view,
                              const struct entity *entity)
{
    char time[ENTITY_ETAG_SIZE];
    struct text path;

    if (view->metadata == ODATA_NO_METADATA)
        return;
    if (view->metadata == ODATA_FULL_METADATA) {
        text_init(&path, out->arena, 64 + view->table.len + entity->partition_key.len);
        entity_path_write(&path, view->table, entity->partition_key, entity->row_key);
        write_member(out, "\"odata.type\":");
        text_printf(out, "\"%.*s.%.*s\"", BYTES_ARG(view->account), BYTES_ARG(view->table));
        write_member(out, "\"odata.id\":\"");
        text_add(out, view->url_prefix);
        text_add_char(out, '/');
        text_add(out, text_bytes(&path));
        text_add_char(out, '"');
    }
    write_member(out, "\"odata.etag\":\"W/\\\"datetime'");
    text_add(out, bytes_of(time, (size_t)(put_escaped_time(time, entity->timestamp) - time)));
    text_add_string(out, "'\\\"\"");
    if (view->metadata == ODATA_FULL_METADATA) {
        write_member(out, "\"odata.editLink\":");
        write_quoted(out, text_bytes(&path));
    }
}

void entity_json_write(struct text *out, const struct entity_view *view,
                       const struct entity *entity)
{
    text_add_char(out, '{');
    write_context(out, view, "/@Element");
    write_annotations(out, view, entity);
    write_properties(out, view, entity);
    text_add_char(out, '}');
}

void entity_list_begin(struct text *out, const struct entity_view *view)
{
    text_add_char(out, '{');
    write_context(out, view, "");
    write_member(out, "\"value\":[");
}

void entity_list_add(struct text *out, const struct entity_view *view, const struct entity *entity)
{
    separate(out);
    text_add_char(out, '{');
    write_annotations(out, view, entity);
    write_properties(out, view, entity);
    text_add_char(out, '}');
}

void entity_list_end(struct text *out)
{
    text_add_string(out, "]}");
}
