/* Lists queues and messages of a server as items. Only the first 32 messages can be read without
 * side effects (Peek Messages); others are received: hidden for a while, counted as dequeued, and
 * released in their order when all have been read. decision: 592. rest: List-Queues1,
 * Peek-Messages, Get-Messages, Update-Message
 *
 * If an import is killed while messages are hidden, these later come after those not received yet.
 * So the order is recorded in the journal before it changes: the next messages are peeked,
 * recorded, and received. decision: 730 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/encode.h"
#include "base/thread.h"
#include "transfer/server.h"

#define PEEK_MAX          32u
/* How long messages are hidden: a base, plus a second per MESSAGES_A_SECOND messages. They are
 * released as soon as all have been received; if the import is killed, they remain hidden until
 * then. */
#define HIDDEN_S          10u
#define MESSAGES_A_SECOND 500u
#define HIDDEN_MAX_S      604800u
/* Maximum size of a queue that is received, which is held in memory. */
#define HELD_BYTES_MAX    ((size_t)4 << 30)

struct held_message {
    struct bytes id, receipt, text, expiry;
    uint64_t place;  /* as returned by run_journal_position() */
    size_t received; /* number of messages received before it in this run */
};

struct queue_reading {
    struct server_source *server;
    struct bytes name;
    struct bytes path; /* "/name/messages" */
    struct arena *arena;
    struct held_message *held;
    size_t count, capacity;
    uint64_t hidden_s;
};

/* ---- a message ---- */

static bool put_message(struct queue_reading *q, const struct held_message *message)
{
    const struct item item = {
        .kind = ITEM_MESSAGE, .parent = q->name, .body = message->text, .date = message->expiry
    };

    return run_put(q->server->worker->run, &item) == PUT_CREATED;
}

static bool put_held(struct queue_reading *q)
{
    bool put = true;

    for (size_t i = 0; i < q->count && put; i++)
        put = put_message(q, &q->held[i]);
    return put;
}

static struct bytes keep(struct queue_reading *q, const struct xml_node *node, const char *name)
{
    struct bytes text = server_text(node, name);

    return text.len > 0 ? arena_copy(q->arena, text) : bytes_from_string("");
}

static struct item noted_message(const struct queue_reading *q, const struct xml_node *node)
{
    return (struct item){ .kind = ITEM_MESSAGE,
                          .parent = q->name,
                          .name = server_text(node, "MessageId") };
}

static void hold(struct queue_reading *q, const struct xml_node *node)
{
    const struct item noted = noted_message(q, node);

    if (q->count == q->capacity) {
        q->capacity = q->capacity > 0 ? 2 * q->capacity : 256;
        q->held = xrealloc(q->held, q->capacity * sizeof q->held[0]);
    }
    q->held[q->count] = (struct held_message){
        .id = keep(q, node, "MessageId"),
        .receipt = keep(q, node, "PopReceipt"),
        .text = keep(q, node, "MessageText"),
        .expiry = keep(q, node, "ExpirationTime"),
        .place = run_journal_position(q->server->worker->run, &noted),
        .received = q->count,
    };
    q->count++;
}

/* The order before any run received them: those recorded by earlier runs, then those never
 * received. */
static int compare_places(const void *left, const void *right)
{
    const struct held_message *a = left, *b = right;

    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return (a->received > b->received) - (a->received < b->received);
}

/* ---- receiving ---- */

/* Makes the messages visible again in their order. */
static void give_back(struct queue_reading *q)
{
    struct server_source *server = q->server;
    struct arena *arena = server->worker->arena;

    for (size_t i = 0; i < q->count; i++) {
        struct arena_mark mark = arena_mark(arena);
        struct api_request api_request = { .method = "PUT", .service = ENDPOINT_QUEUE };
        struct fetch_client_answer answer;
        struct text body;

        text_init(&body, arena, q->held[i].text.len + 128);
        xml_open(&body, "QueueMessage");
        xml_element(&body, "MessageText", q->held[i].text);
        xml_close(&body, "QueueMessage");
        api_request.body = text_bytes(&body);
        api_request.path = arena_printf(arena, "%.*s/%.*s", BYTES_ARG(q->path),
                                        BYTES_ARG(percent_encode(arena, q->held[i].id, "")));
        api_request.query = arena_printf(arena, "popreceipt=%.*s&visibilitytimeout=0",
                                         BYTES_ARG(percent_encode(arena, q->held[i].receipt, "")));
        api_request.accepted = 404; /* it has expired since */
        if (!api_client_request(server->api_client, arena, &api_request, &answer))
            worker_problem(server->worker, "a message stays hidden for a while: %s",
                           api_client_problem(server->api_client));
        arena_rewind(arena, mark);
    }
}

/* Receives the next 32. Returns false after an error was reported, or if there are no more. */
static bool take_some(struct queue_reading *q, struct bytes query, bool *ret_more)
{
    struct worker *worker = q->server->worker;
    struct xml_node *list = server_get_xml(q->server, ENDPOINT_QUEUE, q->path, query);

    *ret_more = list && list->first_child;
    for (const struct xml_node *node = list ? list->first_child : NULL; node; node = node->next) {
        if (q->count > 0 && bytes_equal(server_text(node, "MessageId"), q->held[0].id))
            return worker_problem(worker, "queue %.*s has more messages than reported",
                                  BYTES_ARG(q->name));
        if (arena_held(q->arena) > HELD_BYTES_MAX / 2)
            return worker_problem(worker, "queue %.*s is too large to be held in memory",
                                  BYTES_ARG(q->name));
        hold(q, node);
    }
    return list != NULL;
}

/* Records the messages that will be received next. */
static bool note_some(struct queue_reading *q)
{
    struct xml_node *list = server_get_xml(
        q->server, ENDPOINT_QUEUE, q->path,
        arena_printf(q->server->worker->arena, "peekonly=true&numofmessages=%u", PEEK_MAX));

    for (const struct xml_node *node = list ? list->first_child : NULL; node; node = node->next) {
        const struct item message = noted_message(q, node);

        run_journal_message(q->server->worker->run, &message);
    }
    return list != NULL;
}

static bool receive_all(struct queue_reading *q)
{
    struct arena *arena = q->server->worker->arena;
    bool more = true, received = true;

    while (received && more) {
        struct arena_mark mark = arena_mark(arena);

        received = note_some(q) &&
                   take_some(q,
                             arena_printf(arena, "numofmessages=%u&visibilitytimeout=%" PRIu64,
                                          PEEK_MAX, q->hidden_s),
                             &more);
        arena_rewind(arena, mark);
    }
    if (q->count > 0)
        qsort(q->held, q->count, sizeof q->held[0], compare_places);
    give_back(q);
    return received;
}

static bool peek_all(struct queue_reading *q)
{
    struct arena *arena = q->server->worker->arena;
    struct arena_mark mark = arena_mark(arena);
    bool more, peeked = take_some(q, bytes_from_string("peekonly=true&numofmessages=32"), &more);

    arena_rewind(arena, mark);
    return peeked;
}

/* ---- a queue ---- */

/* Waits for messages that a killed import may have left hidden. */
static void wait_for_hidden(const struct queue_reading *q)
{
    thread_sleep_ns(q->hidden_s * 1000000000u);
}

/* Returns the service's message count, including hidden messages. */
static bool count_messages(struct server_source *server, struct bytes path, uint64_t *ret_count)
{
    const struct api_request api_request = { .method = "GET",
                                             .service = ENDPOINT_QUEUE,
                                             .path = path,
                                             .query = bytes_from_string("comp=metadata") };
    struct fetch_client_answer answer;

    if (!api_client_request(server->api_client, server->worker->arena, &api_request, &answer))
        return worker_problem(server->worker, "%s", api_client_problem(server->api_client));
    return bytes_parse_u64(fetch_head_find(&answer.head, "x-ms-approximate-messages-count"),
                           UINT64_MAX, ret_count) ||
           worker_problem(server->worker, "the source does not say how many messages %.*s has",
                          BYTES_ARG(path));
}

static bool read_messages(struct server_source *server, const struct item *queue, struct bytes path)
{
    struct worker *worker = server->worker;
    struct queue_reading q = { .server = server,
                               .name = queue->parent,
                               .path =
                                   arena_printf(worker->arena, "%.*s/messages", BYTES_ARG(path)),
                               .arena = arena_new(HELD_BYTES_MAX) };
    uint64_t expected = 0;
    bool read = count_messages(server, path, &expected);

    q.hidden_s = HIDDEN_S + expected / MESSAGES_A_SECOND;
    if (q.hidden_s > HIDDEN_MAX_S)
        q.hidden_s = HIDDEN_MAX_S;
    if (read && expected > PEEK_MAX && !run_receives_messages(worker->run)) {
        read = worker_problem(worker,
                              "queue %.*s has %" PRIu64
                              " messages, and only the first %u can be read without changing it: "
                              "--receive-messages reads all",
                              BYTES_ARG(q.name), expected, PEEK_MAX);
    } else if (read && expected > PEEK_MAX) {
        if (run_journal_queue(worker->run, queue))
            wait_for_hidden(&q);
        read = receive_all(&q);
    } else if (read) {
        read = peek_all(&q);
    }
    read = read && put_held(&q);
    if (read && q.count < expected)
        read = worker_problem(worker,
                              "queue %.*s: %" PRIu64 " of its %" PRIu64
                              " messages are hidden, because others have received them",
                              BYTES_ARG(q.name), expected - q.count, expected);
    free(q.held);
    arena_free(q.arena);
    return read;
}

static bool take_queue(struct server_source *server, const struct xml_node *node)
{
    struct arena *arena = server->worker->arena;
    struct run *run = server->worker->run;
    struct item item = { .kind = ITEM_QUEUE, .parent = server_text(node, "Name") };
    struct bytes path =
        arena_printf(arena, "/%.*s", BYTES_ARG(percent_encode(arena, item.parent, "")));
    enum put_result put;

    server_add_metadata(arena, &item, node);
    put = run_put(run, &item);
    if (run_is_comparing(run) || put != PUT_CREATED)
        return put != PUT_STOPPED;
    if (!read_messages(server, &item, path))
        return true; /* error already reported; continue with other queues */
    item.kind = ITEM_QUEUE_END;
    item.body = server_policies(server, ENDPOINT_QUEUE, path, "comp=acl");
    return run_put(run, &item) != PUT_STOPPED;
}

bool list_queues(struct server_source *server)
{
    static const struct server_owners owners = {
        .service = ENDPOINT_QUEUE,
        .query = "comp=list&include=metadata",
        .list = "Queues",
        .element = "Queue",
        .take = take_queue,
    };

    return server_list_owners(server, &owners);
}
