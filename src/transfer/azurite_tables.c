/* Lists tables and entities of an Azurite data directory as items: see azurite.h. */
#include "transfer/azurite.h"

#include "base/encode.h"

#define TYPE_SUFFIX "@odata.type"
#define GUID_TEXT   36u

/* Newer versions store the text of a GUID in base64. */
static struct bytes plain_guid(struct azurite *a, struct bytes text)
{
    struct bytes decoded = text.len == GUID_TEXT ? text : base64_decode(a->arena, text);

    return decoded.ptr && decoded.len == GUID_TEXT ? decoded : text;
}

static bool is_guid(struct azurite *a, struct bytes properties, struct bytes name)
{
    const char *type =
        arena_string(a->arena, arena_printf(a->arena, "%.*s" TYPE_SUFFIX, BYTES_ARG(name)));
    struct json_member member;

    return json_object_pick(a->arena, properties, AZURITE_DEPTH, &type, 1, &member) &&
           bytes_is(member.text, "Edm.Guid");
}

/* Returns the body for Insert Entity. */
static struct bytes make_body(struct azurite *a, struct bytes properties)
{
    struct json_reader reader;
    struct json_member member;
    struct text body;

    text_init(&body, a->arena, properties.len + 64);
    json_object_init(&reader, a->arena, properties, AZURITE_DEPTH);
    while (json_next(&reader, &member)) {
        if (member.kind == JSON_OBJECT || member.kind == JSON_LIST || member.kind == JSON_NULL)
            continue;
        text_add_char(&body, body.len > 0 ? ',' : '{');
        json_write_string(&body, member.name);
        text_add_char(&body, ':');
        if (member.kind == JSON_STRING)
            json_write_string(&body, is_guid(a, properties, member.name)
                                         ? plain_guid(a, member.text)
                                         : member.text);
        else if (member.kind == JSON_NUMBER)
            text_add(&body, member.text);
        else
            text_add_string(&body, member.kind == JSON_TRUE ? "true" : "false");
    }
    text_add_string(&body, body.len > 0 ? "}" : "{}");
    return text_bytes(&body);
}

static bool put_entities(struct azurite *a, struct bytes table)
{
    static const char *const none[3] = { NULL, NULL, NULL }, *const name = "properties";
    const char *collection = arena_string(
        a->arena, arena_printf(a->arena, "%.*s$%.*s", BYTES_ARG(a->account), BYTES_ARG(table)));
    struct azurite_documents entities;
    struct json_member properties;

    if (!azurite_collect(a, collection, none, &entities))
        return false;
    for (size_t i = 0; i < entities.count; i++) {
        struct arena_mark mark = arena_mark(a->arena);
        struct item item = { .kind = ITEM_ENTITY, .parent = table };
        enum put_result put;

        if (!azurite_pick(a, entities.of[i].text, &name, 1, &properties) ||
            properties.kind != JSON_OBJECT)
            return false;
        item.body = make_body(a, properties.text);
        put = run_put(a->worker->run, &item);
        arena_rewind(a->arena, mark);
        if (put == PUT_STOPPED)
            return false;
    }
    return true;
}

bool azurite_list_tables(struct azurite *a)
{
    static const char *const names[3] = { NULL, "table", NULL }, *const policies = "tableAcl";
    struct azurite_documents tables;
    bool listed = azurite_collect(a, "$TABLES_COLLECTION$", names, &tables);

    for (size_t i = 0; listed && i < tables.count; i++) {
        struct item item = { .kind = ITEM_TABLE, .parent = tables.of[i].name };
        struct json_member list;

        listed = azurite_pick(a, tables.of[i].text, &policies, 1, &list);
        if (!listed)
            break;
        item.body = azurite_policies(a, &list);
        listed = run_put(a->worker->run, &item) != PUT_STOPPED && put_entities(a, item.parent);
    }
    return listed;
}
