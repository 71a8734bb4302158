/* Entities in answers: see entity_json.h. Order and annotations are those that were recorded. */
#include "base/encode.h"
#include "table/edm_text.h"
#include "table/rest/entity_json.h"
#include "table/rest/json.h"

#include <assert.h>
#include <math.h>

/* ---- names of things ---- */

/* A key in a URL: quotes doubled, and not escaped, as recorded. */
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

void entity_etag_format(instant timestamp, char buffer[ENTITY_ETAG_SIZE])
{
    char time[EDM_DATETIME_SIZE];
    char *to = buffer;

    edm_datetime_format(timestamp, time);
    memcpy(to, "W/\"datetime'", 12);
    to += 12;
    for (const char *from = time; *from != '\0'; from++) {
        if (*from == ':') {
            memcpy(to, "%3A", 3);
            to += 3;
        } else {
            *to++ = *from;
        }
    }
    memcpy(to, "'\"", sizeof "'\"");
}

/* ---- properties ---- */

/* A comma, unless this is the first of its object or list. */
static void separate(struct text *out)
{
    assert(out->len > 0);
    if (out->ptr[out->len - 1] != '{' && out->ptr[out->len - 1] != '[')
        text_add_char(out, ',');
}

static void write_name(struct text *out, struct bytes name, const char *annotation)
{
    separate(out);
    json_write_string(out, name);
    if (annotation) {
        out->len--; /* the quote */
        text_add_string(out, annotation);
        text_add_char(out, '"');
    }
    text_add_char(out, ':');
}

/* Without escapes: it needs none. */
static void write_quoted(struct text *out, const char *value)
{
    text_add_char(out, '"');
    text_add_string(out, value);
    text_add_char(out, '"');
}

/* A member whose value needs no escapes. */
static void write_plain(struct text *out, const char *name, struct bytes value)
{
    write_name(out, bytes_from_string(name), NULL);
    text_add_char(out, '"');
    text_add(out, value);
    text_add_char(out, '"');
}

/* Types that JSON does not tell are annotated: these, and doubles that are no numbers. */
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

static void write_value(struct text *out, const struct edm_value *value)
{
    char buffer[GUID_TEXT_SIZE > EDM_DATETIME_SIZE ? GUID_TEXT_SIZE : EDM_DATETIME_SIZE];

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
        edm_datetime_format(value->as.time, buffer);
        write_quoted(out, buffer);
        return;
    case EDM_GUID:
        guid_format(&value->as.guid, buffer);
        write_quoted(out, buffer);
        return;
    case EDM_BINARY:
        json_write_string(out, base64_encode(out->arena, value->as.bytes));
        return;
    case EDM_TYPES:
        break;
    }
    assert(false); /* no type */
}

static void write_property(struct text *out, const struct entity_view *view, struct bytes name,
                           const struct edm_value *value)
{
    if (view->metadata != ODATA_NO_METADATA && is_annotated(value)) {
        write_name(out, name, "@odata.type");
        write_quoted(out, edm_type_name(value->type));
    }
    write_name(out, name, NULL);
    write_value(out, value);
}

/* ---- system properties ---- */

enum { SYSTEM_PARTITION_KEY, SYSTEM_ROW_KEY, SYSTEM_TIMESTAMP, SYSTEM_PROPERTIES };
static const char *const system_names[SYSTEM_PROPERTIES] = { "PartitionKey", "RowKey",
                                                             "Timestamp" };

static void write_system_property(struct text *out, const struct entity_view *view,
                                  const struct entity *entity, int which)
{
    struct bytes name = bytes_from_string(system_names[which]);
    struct edm_value value = { .type = EDM_STRING };

    if (which == SYSTEM_TIMESTAMP)
        value = (struct edm_value){ .type = EDM_DATETIME, .as.time = entity->timestamp };
    else
        value.as.bytes = which == SYSTEM_ROW_KEY ? entity->row_key : entity->partition_key;
    if (which == SYSTEM_TIMESTAMP && view->metadata != ODATA_FULL_METADATA) {
        write_name(out, name, NULL); /* its type is known */
        write_value(out, &value);
    } else {
        write_property(out, view, name, &value);
    }
}

/* A name of $select; null when the entity has no such property. */
static void write_selected(struct text *out, const struct entity_view *view,
                           const struct entity *entity, struct bytes name)
{
    const struct property *property;

    for (int i = 0; i < SYSTEM_PROPERTIES; i++)
        if (bytes_is(name, system_names[i])) {
            write_system_property(out, view, entity, i);
            return;
        }
    property = entity_find(entity, name);
    if (property) {
        write_property(out, view, name, &property->value);
        return;
    }
    write_name(out, name, NULL);
    text_add_string(out, "null");
}

static void write_properties(struct text *out, const struct entity_view *view,
                             const struct entity *entity)
{
    for (size_t i = 0; i < view->select_count; i++)
        write_selected(out, view, entity, view->select[i]);
    if (view->select_count > 0)
        return;
    for (int i = 0; i < SYSTEM_PROPERTIES; i++)
        write_system_property(out, view, entity, i);
    for (size_t i = 0; i < entity->count; i++)
        write_property(out, view, entity->properties[i].name, &entity->properties[i].value);
}

/* ---- entities ---- */

/* "odata.metadata": where the shape of the answer is told. element: "" for a list. */
static void write_context(struct text *out, const struct entity_view *view, const char *element)
{
    struct text value;

    if (view->metadata == ODATA_NO_METADATA)
        return;
    text_init(&value, out->arena, 128 + view->url_prefix.len);
    text_add(&value, view->url_prefix);
    text_add_string(&value, "/$metadata#");
    text_add(&value, view->table);
    text_add_string(&value, element);
    for (size_t i = 0; i < view->select_count; i++) {
        text_add_string(&value, i == 0 ? "&$select=" : ",");
        text_add(&value, view->select[i]);
    }
    write_name(out, bytes_from_string("odata.metadata"), NULL);
    json_write_string(out, text_bytes(&value));
}

/* What is said of an entity beside its properties. */
static void write_annotations(struct text *out, const struct entity_view *view,
                              const struct entity *entity)
{
    char etag[ENTITY_ETAG_SIZE];
    struct text path;

    if (view->metadata == ODATA_NO_METADATA)
        return;
    text_init(&path, out->arena, 64 + view->table.len + entity->partition_key.len);
    if (view->metadata == ODATA_FULL_METADATA) {
        entity_path_write(&path, view->table, entity->partition_key, entity->row_key);
        write_name(out, bytes_from_string("odata.type"), NULL);
        text_printf(out, "\"%.*s.%.*s\"", BYTES_ARG(view->account), BYTES_ARG(view->table));
        write_plain(out, "odata.id",
                    arena_printf(out->arena, "%.*s/%.*s", BYTES_ARG(view->url_prefix),
                                 BYTES_ARG(text_bytes(&path))));
    }
    entity_etag_format(entity->timestamp, etag);
    write_name(out, bytes_from_string("odata.etag"), NULL);
    json_write_string(out, bytes_from_string(etag));
    if (view->metadata == ODATA_FULL_METADATA)
        write_plain(out, "odata.editLink", text_bytes(&path));
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
    write_name(out, bytes_from_string("value"), NULL);
    text_add_char(out, '[');
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
