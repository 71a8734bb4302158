/* Entities from outside: bodies of requests, and records; the record of a table with its policies.
 * What is read is within its limits, and comes back from its record and from an answer as it
 * was. */
#include <stdlib.h>

#include "fuzz.h"
#include "auth/policies.h"
#include "table/rest/entity_json.h"
#include "table/tables.h"

static const struct entity_view view = {
    .metadata = ODATA_MINIMAL_METADATA,
    .url_prefix = BYTES("http://h/a"),
    .account = BYTES("a"),
    .table = BYTES("T"),
};

static struct bytes shown(struct arena *arena, const struct entity *entity)
{
    struct text out;

    text_init(&out, arena, 256);
    entity_json_write(&out, &view, entity);
    return text_bytes(&out);
}

static void check_property(const struct property *p)
{
    bool is_text = p->value.type == EDM_STRING, is_binary = p->value.type == EDM_BINARY;

    if (entity_name_check(p->name) != OK)
        abort();
    if (is_text && (!bytes_is_utf8(p->value.as.bytes) ||
                    2 * bytes_utf16_units(p->value.as.bytes) > EDM_VALUE_BYTES_MAX))
        abort();
    if (is_binary && p->value.as.bytes.len > EDM_VALUE_BYTES_MAX)
        abort();
    if (p->value.type == EDM_DATETIME &&
        (p->value.as.time < EDM_DATETIME_MIN || p->value.as.time > EDM_DATETIME_MAX))
        abort();
}

/* An answer, sent back, is the same entity; so is its record. */
static void check_entity(struct arena *arena, struct entity *entity)
{
    struct bytes text = shown(arena, entity);
    struct entity back;
    const char *message;

    if (entity->count > ENTITY_PROPERTIES_MAX)
        abort();
    for (size_t i = 0; i < entity->count; i++) {
        check_property(&entity->properties[i]);
        if (entity_find(entity, entity->properties[i].name) != &entity->properties[i])
            abort(); /* named twice */
    }
    if (entity_json_read(arena, text, &back, &message) != OK)
        abort();
    back.timestamp = entity->timestamp;
    if (!bytes_equal(shown(arena, &back), text))
        abort();
    if (!entity_decode(arena, entity_encode(arena, entity), &back))
        abort();
    back.partition_key = entity->partition_key;
    back.row_key = entity->row_key;
    if (!bytes_equal(shown(arena, &back), text))
        abort();
    if (entity_merge(arena, entity, &back).count != entity->count)
        abort();
}

static void check_record(struct arena *arena, struct bytes value)
{
    struct entity entity, again;

    if (!entity_decode(arena, value, &entity))
        return;
    if (!entity_decode(arena, entity_encode(arena, &entity), &again) ||
        again.count != entity.count || again.timestamp != entity.timestamp)
        abort();
}

static void check_table(struct arena *arena, struct bytes value)
{
    struct policies policies, again;
    struct table table;

    if (!table_decode(value, &table) || !policies_decode(table.policies, &policies))
        return;
    if (!policies_decode(policies_encode(arena, &policies), &again) ||
        again.count != policies.count)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new(1u << 28);
    struct bytes text = bytes_of(data, size);
    struct entity entity;
    const char *message = NULL;
    enum error e = entity_json_read(arena, text, &entity, &message);

    if (!e)
        check_entity(arena, &entity);
    else if (e == E_InvalidInput && !message)
        abort();
    check_record(arena, text);
    check_table(arena, text);
    arena_free(arena);
    return 0;
}
