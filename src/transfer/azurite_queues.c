/* Lists queues and messages of an Azurite data directory as items: see azurite.h. The source is not
 * changed: messages that a client has received are read like others. */
#include "transfer/azurite.h"

#include "base/clock.h"

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
