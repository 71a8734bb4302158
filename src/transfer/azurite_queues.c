/* Lists queues, messages, tables and entities of an Azurite data directory as items: see azurite.h.
 * The source is not changed: messages that a client has received are read like others. */
#include "base/clock.h"
#include "base/encode.h"
#include "transfer/azurite.h"

/* Maximum size of a message in Azurite. */
#define TEXT_MAX ((uint64_t)1 << 20)

/* Converts the expiry to HTTP's form. Returns false if the message has expired. */
static bool read_expiry(struct azurite *a, const struct json_member *expiry, struct item *item)
{
    char text[INSTANT_HTTP_SIZE];
    instant at;

    if (!instant_parse_iso(azurite_text(expiry), &at))
        return true;
    instant_format_http(at, text);
    item->date = arena_copy(a->arena, bytes_from_string(text));
    return at > clock_unmoved();
}

static bool put_message(struct azurite *a, const struct azurite_document *document)
{
    static const char *const names[] = { "persistency", "expirationTime" };
    struct item item = { .kind = ITEM_MESSAGE, .parent = document->parent };
    struct arena_mark mark = arena_mark(a->worker->arena);
    struct json_member of[2];
    struct text parts;
    uint64_t count = 0;
    bool put;

    text_init(&parts, a->arena, sizeof(struct azurite_part));
    if (!azurite_pick(a, document->text, names, 2, of))
        return false;
    if (!read_expiry(a, &of[1], &item))
        return true;
    if (!azurite_add_part(a, &parts, 0, &of[0], &count) || count > TEXT_MAX)
        return worker_problem(a->worker, "queue %.*s: the location of a message is corrupt",
                              BYTES_ARG(document->parent));
    put =
        azurite_read(a, a->worker, "__queuestorage__", text_bytes(&parts), 0, count, &item.body) &&
        run_put(a->worker->run, &item) == PUT_CREATED;
    arena_rewind(a->worker->arena, mark);
    return put;
}

/* All messages, sorted by queue; those before `at` belong to earlier queues. */
struct message_list {
    struct azurite_documents all;
    size_t at;
};

static bool put_messages(struct azurite *a, struct message_list *messages, struct bytes queue)
{
    for (; messages->at < messages->all.count; messages->at++) {
        const struct azurite_document *message = &messages->all.of[messages->at];
        int order = bytes_compare(message->parent, queue);

        if (order > 0)
            break;
        if (order == 0 && !put_message(a, message))
            return false;
    }
    return true;
}

static bool put_queue(struct azurite *a, const struct azurite_document *document,
                      struct message_list *messages)
{
    static const char *const names[] = { "metadata", "queueAcl" };
    struct item item = { .kind = ITEM_QUEUE, .parent = document->name };
    struct json_member of[2];
    enum put_result put;

    if (!azurite_pick(a, document->text, names, 2, of))
        return false;
    azurite_add_metadata(a, &item, &of[0]);
    put = run_put(a->worker->run, &item);
    if (run_is_comparing(a->worker->run) || put != PUT_CREATED)
        return put != PUT_STOPPED;
    if (!put_messages(a, messages, document->name))
        return true; /* error already reported; continue with other queues */
    item.kind = ITEM_QUEUE_END;
    item.body = azurite_policies(a, &of[1]);
    return run_put(a->worker->run, &item) != PUT_STOPPED;
}

bool azurite_list_queues(struct azurite *a)
{
    static const char *const queue[3] = { NULL, "name", NULL };
    static const char *const message[3] = { "queueName", NULL, NULL };
    struct azurite_documents queues;
    struct message_list messages = { .at = 0 };
    bool listed = azurite_collect(a, "$QUEUES_COLLECTION$", queue, &queues) &&
                  azurite_collect(a, "$MESSAGES_COLLECTION$", message, &messages.all);

    for (size_t i = 0; listed && i < queues.count; i++)
        listed = put_queue(a, &queues.of[i], &messages);
    return listed;
}

/* ---- azurite tables ---- */

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
