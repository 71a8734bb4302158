/* Parses the entity in a request body: see entity_json.h. */
#include "base/encode.h"
#include "base/json.h"
#include "table/edm.h"
#include "table/rest/entity_json.h"

#include <assert.h>

/* A property, its annotation, or both, in order of first appearance. */
struct given {
    struct bytes name;
    bool has_value, has_type;
    struct json_member value;
    enum edm_type type;
};

/* Maximum members: properties and the three system properties. */
#define GIVEN_MAX   (ENTITY_PROPERTIES_MAX + 3)
#define GIVEN_FIRST 16u

struct reader {
    struct arena *arena;
    struct given *given;
    size_t count, capacity;
    const char *message;
};

#define MALFORMED "An error occurred while processing this request."

static enum error refuse(struct reader *r)
{
    r->message = MALFORMED;
    return E_InvalidInput;
}

static enum error out_of_range(struct reader *r, struct bytes name, struct bytes value)
{
    /* Truncated, because the value also goes into a header and a log line. */
    value.len = value.len > 256 ? 256 : value.len;
    r->message = arena_string(
        r->arena, arena_printf(r->arena, "The '%.*s' parameter of value '%.*s' is out of range.",
                               BYTES_ARG(name), BYTES_ARG(value)));
    return E_OutOfRangeInput;
}

/* ---- members ---- */

/* Enlarges the array, which moves its items. */
static void grow_given(struct reader *r)
{
    size_t capacity = r->capacity > 0 ? 2 * r->capacity : GIVEN_FIRST;
    struct given *grown = arena_array(r->arena, capacity, sizeof *grown);

    if (r->count > 0)
        memcpy(grown, r->given, r->count * sizeof *grown);
    r->given = grown;
    r->capacity = capacity;
}

/* Finds or adds the property of this name; valid until the next call. Returns NULL if there are too
 * many. */
static struct given *find_given(struct reader *r, struct bytes name)
{
    for (size_t i = r->count; i-- > 0;) /* usually the last one */
        if (bytes_equal(r->given[i].name, name))
            return &r->given[i];
    if (r->count == GIVEN_MAX)
        return NULL;
    if (r->count == r->capacity)
        grow_given(r);
    r->given[r->count].name = name;
    return &r->given[r->count++];
}

static enum error add_annotation(struct reader *r, struct bytes property, struct bytes annotation,
                                 const struct json_member *member)
{
    struct given *given;

    /* The type annotation of an annotation, which older Python clients send for an entity that they
     * have read. decision: 891 */
    if (bytes_is(annotation, "odata.type@odata.type") && property.len > 0)
        return OK;
    if (!bytes_is(annotation, "odata.type") || property.len == 0)
        return refuse(r);
    given = find_given(r, property);
    if (!given)
        return E_TooManyProperties;
    if (given->has_type)
        return E_DuplicatePropertiesSpecified;
    given->has_type = true;
    if (member->kind != JSON_STRING || !edm_type_parse(member->text, &given->type))
        return refuse(r);
    return OK;
}

static enum error add_member(struct reader *r, const struct json_member *member)
{
    struct bytes property, annotation;
    struct given *given;

    if (bytes_has_prefix(member->name, bytes_from_string("odata.")))
        return OK;
    bytes_cut(member->name, '@', &property, &annotation);
    if (annotation.ptr)
        return add_annotation(r, property, annotation, member);
    given = find_given(r, property);
    if (!given)
        return E_TooManyProperties;
    if (given->has_value)
        return E_DuplicatePropertiesSpecified;
    given->has_value = true;
    given->value = *member;
    return OK;
}

/* ---- values ---- */

/* Infers type and value from the JSON if there is no annotation. */
static bool infer_value(const struct json_member *m, struct edm_value *to)
{
    switch (m->kind) {
    case JSON_STRING:
        to->type = EDM_STRING;
        to->as.bytes = m->text;
        return true;
    case JSON_TRUE:
    case JSON_FALSE:
        to->type = EDM_BOOLEAN;
        to->as.boolean = m->kind == JSON_TRUE;
        return true;
    case JSON_NUMBER:
        to->type = EDM_INT32;
        if (edm_parse_integer(m->text, INT32_MIN, INT32_MAX, &to->as.integer))
            return true;
        to->type = EDM_DOUBLE;
        return edm_parse_double(m->text, &to->as.real);
    case JSON_NULL:
    case JSON_ABSENT:
    case JSON_OBJECT:
    case JSON_LIST:
        break;
    }
    return false;
}

static bool read_boolean(const struct json_member *m, bool *to)
{
    *to = m->kind == JSON_TRUE || (m->kind == JSON_STRING && bytes_is_nocase(m->text, "true"));
    return *to || m->kind == JSON_FALSE ||
           (m->kind == JSON_STRING && bytes_is_nocase(m->text, "false"));
}

static bool read_double(const struct json_member *m, double *to)
{
    static const struct {
        const char *name;
        double value;
    } names[] = { { "NaN", __builtin_nan("") },
                  { "Infinity", __builtin_inf() },
                  { "-Infinity", -__builtin_inf() } };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (m->kind == JSON_STRING && bytes_is(m->text, names[i].name)) {
            *to = names[i].value;
            return true;
        }
    return edm_parse_double(m->text, to);
}

/* Reads a value with an annotated type. Numbers may be in a string, as clients write them: "42". */
static enum error read_value(struct reader *r, const struct given *given, struct edm_value *to)
{
    const struct json_member *m = &given->value;
    bool is_string = m->kind == JSON_STRING;
    enum edm_parse parsed;
    bool fits = false;

    to->type = given->type;
    switch (given->type) {
    case EDM_STRING:
        to->as.bytes = m->text;
        fits = is_string;
        break;
    case EDM_INT32:
        fits = edm_parse_integer(m->text, INT32_MIN, INT32_MAX, &to->as.integer);
        break;
    case EDM_INT64:
        fits = edm_parse_integer(m->text, INT64_MIN, INT64_MAX, &to->as.integer);
        break;
    case EDM_DOUBLE:
        fits = read_double(m, &to->as.real);
        break;
    case EDM_BOOLEAN:
        fits = read_boolean(m, &to->as.boolean);
        break;
    case EDM_DATETIME:
        parsed = is_string ? edm_parse_datetime(m->text, &to->as.time) : EDM_MALFORMED;
        if (parsed == EDM_OUT_OF_RANGE)
            return out_of_range(r, given->name, m->text);
        fits = parsed == EDM_PARSED;
        break;
    case EDM_GUID:
        fits = is_string && guid_parse(m->text, &to->as.guid);
        break;
    case EDM_BINARY:
        to->as.bytes = is_string ? base64_decode(r->arena, m->text) : bytes_of(NULL, 0);
        fits = to->as.bytes.ptr != NULL;
        break;
    case EDM_TYPES:
        break;
    }
    return fits ? OK : refuse(r);
}

static bool is_too_large(const struct edm_value *value)
{
    /* A text has at most as many code units as bytes. */
    if (value->type == EDM_STRING)
        return 2 * value->as.bytes.len > EDM_VALUE_BYTES_MAX &&
               2 * bytes_utf16_units(value->as.bytes) > EDM_VALUE_BYTES_MAX;
    return value->type == EDM_BINARY && value->as.bytes.len > EDM_VALUE_BYTES_MAX;
}

/* ---- the entity ---- */

static enum error read_key(struct reader *r, const struct given *given, struct bytes *to)
{
    enum error e;

    if (given->value.kind == JSON_NULL)
        return OK;
    if (given->value.kind != JSON_STRING || (given->has_type && given->type != EDM_STRING))
        return refuse(r);
    e = entity_key_check(given->value.text);
    if (e == E_OutOfRangeInput)
        return out_of_range(r, given->name, given->value.text);
    *to = given->value.text;
    return e;
}

static enum error read_property(struct reader *r, const struct given *given, struct property *to)
{
    enum error e = entity_name_check(given->name);

    if (e)
        return e;
    to->name = given->name;
    if (given->has_type)
        e = read_value(r, given, &to->value);
    else if (!infer_value(&given->value, &to->value))
        e = refuse(r);
    if (e)
        return e;
    return is_too_large(&to->value) ? E_PropertyValueTooLarge : OK;
}

static enum error read_given(struct reader *r, struct entity *to)
{
    struct property *properties = arena_array(r->arena, r->count, sizeof *properties);
    enum error e = OK;

    to->properties = properties;
    for (size_t i = 0; i < r->count && !e; i++) {
        const struct given *given = &r->given[i];

        if (!given->has_value) /* an annotation without a property */
            e = refuse(r);
        else if (bytes_is(given->name, "PartitionKey"))
            e = read_key(r, given, &to->partition_key);
        else if (bytes_is(given->name, "RowKey"))
            e = read_key(r, given, &to->row_key);
        else if (given->value.kind == JSON_NULL)
            e = entity_name_check(given->name);
        else if (!bytes_is(given->name, "Timestamp"))
            e = read_property(r, given, &properties[to->count++]);
    }
    return !e && to->count > ENTITY_PROPERTIES_MAX ? E_TooManyProperties : e;
}

enum error entity_json_read(struct arena *arena, struct bytes body, struct entity *ret_entity,
                            const char **ret_message)
{
    struct reader r = { .arena = arena };
    struct entity entity = { .count = 0 };
    struct json_member member;
    struct json_reader object;
    enum error e = OK;

    json_object_init(&object, arena, body, 0);
    while (!e && json_next(&object, &member))
        e = add_member(&r, &member);
    if (!e)
        e = object.bad ? refuse(&r) : read_given(&r, &entity);
    *ret_message = r.message;
    if (!e)
        *ret_entity = entity;
    return e;
}
