/* Creates queues and their messages on a server. A queue has a mark in its metadata until it has
 * all of its messages: an import that finds the mark clears the queue and starts again; a queue
 * with messages but without the mark belongs to someone else, and is left alone.
 * rest: Create-Queue4, Put-Message, Clear-Messages */
#include "base/encode.h"
#include "base/json.h"
#include "base/xml.h"
#include "transfer/sink.h"

#include <inttypes.h>

static bool put_metadata(struct worker *worker, const struct item *item, bool has_mark)
{
    struct arena *arena = worker->arena;
    struct sink_request request = { .method = "PUT",
                                    .service = ENDPOINT_QUEUE,
                                    .path = sink_path(arena, item->parent, bytes_of("", 0)),
                                    .query = bytes_from_string("comp=metadata"),
                                    .headers = sink_headers(arena, item),
                                    .body = bytes_of("", 0) };

    if (has_mark)
        sink_header(arena, &request.headers, ITEM_QUEUE_MARK, bytes_from_string("1"));
    return sink_ask(worker, &request, NULL);
}

/* Handles an existing queue. */
static bool begin_again(struct worker *worker, const struct item *item)
{
    struct bytes path = sink_path(worker->arena, item->parent, bytes_of("", 0));
    const struct api_request api_request = { .method = "GET",
                                             .service = ENDPOINT_QUEUE,
                                             .path = path,
                                             .query = bytes_from_string("comp=metadata") };
    const struct sink_request clear = { .method = "DELETE",
                                        .service = ENDPOINT_QUEUE,
                                        .path = sink_path(worker->arena, item->parent,
                                                          bytes_from_string("messages")),
                                        .query = bytes_of("", 0) };
    struct fetch_client_answer answer;
    uint64_t messages = 0;

    if (!api_client_request(worker->to, worker->arena, &api_request, &answer))
        return worker_problem(worker, "%s", api_client_problem(worker->to));
    (void)bytes_parse_u64(fetch_head_find(&answer.head, "x-ms-approximate-messages-count"),
                          UINT64_MAX, &messages);
    if (fetch_head_find(&answer.head, ITEM_QUEUE_MARK).ptr)
        return sink_ask(worker, &clear, NULL);
    if (messages > 0)
        return worker_problem(worker, "the target has a queue %.*s with messages: left unchanged",
                              BYTES_ARG(item->parent));
    return put_metadata(worker, item, true);
}

bool sink_put_queue(struct worker *worker, const struct item *item)
{
    struct arena *arena = worker->arena;
    struct sink_request request = { .method = "PUT",
                                    .service = ENDPOINT_QUEUE,
                                    .path = sink_path(arena, item->parent, bytes_of("", 0)),
                                    .query = bytes_of("", 0),
                                    .headers = sink_headers(arena, item),
                                    .body = bytes_of("", 0),
                                    .accepted = 409 };
    int status;

    sink_header(arena, &request.headers, ITEM_QUEUE_MARK, bytes_from_string("1"));
    if (!sink_ask(worker, &request, &status))
        return false;
    /* 204: it exists with the same metadata, including the mark */
    return status == 201 || begin_again(worker, item);
}

/* Returns the seconds until a message expires, for messagettl, or "-1" if it never does. An expiry
 * has no fraction of a second, and is extended by up to two seconds rather than shortened, because
 * `now` may be a second late. decision: 909 */
static struct bytes seconds_left(struct arena *arena, struct bytes expiry, instant now)
{
    instant at;

    if (!instant_parse_http(expiry, &at) || at > now + 3650ull * TICKS_PER_DAY)
        return bytes_from_string("-1");
    at += TICKS_PER_SECOND;
    return arena_printf(arena, "%" PRIu64,
                        at > now ? (uint64_t)((at - now + TICKS_PER_SECOND - 1) / TICKS_PER_SECOND)
                                 : UINT64_C(1));
}

bool sink_put_message(struct worker *worker, const struct item *item)
{
    struct arena *arena = worker->arena;
    struct bytes left = seconds_left(arena, item->date, api_client_now(worker->to));
    struct sink_request request = { .method = "POST",
                                    .service = ENDPOINT_QUEUE,
                                    .path = sink_path(arena, item->parent,
                                                      bytes_from_string("messages")) };
    struct text body;

    text_init(&body, arena, item->body.len + 128);
    xml_open(&body, "QueueMessage");
    xml_element(&body, "MessageText", item->body);
    xml_close(&body, "QueueMessage");
    request.body = text_bytes(&body);
    request.query = arena_printf(arena, "messagettl=%.*s", BYTES_ARG(left));
    return sink_ask(worker, &request, NULL);
}

bool sink_end_queue(struct worker *worker, const struct item *item)
{
    const struct sink_request policies = { .method = "PUT",
                                           .service = ENDPOINT_QUEUE,
                                           .path = sink_path(worker->arena, item->parent,
                                                             bytes_of("", 0)),
                                           .query = bytes_from_string("comp=acl"),
                                           .body = item->body };

    if (item->body.ptr && memmem(item->body.ptr, item->body.len, "<SignedIdentifier>", 18) &&
        !sink_ask(worker, &policies, NULL))
        return false;
    return put_metadata(worker, item, false);
}

/* Creates tables and entities on a server. rest: Create-Table, Insert-Or-Replace-Entity */

#define DEPTH 4u

static struct header_list json_headers(struct arena *arena)
{
    struct header_list headers = { .count = 0 };

    sink_header(arena, &headers, "Content-Type", bytes_from_string("application/json"));
    sink_header(arena, &headers, "Accept", bytes_from_string("application/json;odata=nometadata"));
    sink_header(arena, &headers, "Prefer", bytes_from_string("return-no-content"));
    return headers;
}

bool sink_put_table(struct worker *worker, const struct item *item)
{
    struct arena *arena = worker->arena;
    struct sink_request request = { .method = "POST",
                                    .service = ENDPOINT_TABLE,
                                    .path = bytes_from_string("/Tables"),
                                    .query = bytes_of("", 0),
                                    .headers = json_headers(arena),
                                    .accepted = 409 };
    const struct sink_request policies = { .method = "PUT",
                                           .service = ENDPOINT_TABLE,
                                           .path = sink_path(arena, item->parent, bytes_of("", 0)),
                                           .query = bytes_from_string("comp=acl"),
                                           .body = item->body };
    struct text body;
    struct json_writer out = { .to = &body };

    text_init(&body, arena, 128);
    json_write_begin(&out, '{');
    json_write_member(&out, "TableName", item->parent);
    json_write_end(&out, '}');
    request.body = text_bytes(&body);
    if (!sink_ask(worker, &request, NULL))
        return false;
    return !item->body.ptr || !memmem(item->body.ptr, item->body.len, "<SignedIdentifier>", 18) ||
           sink_ask(worker, &policies, NULL);
}

/* Adds a quoted key, doubling its quotes. */
static void add_key(struct text *path, const char *name, struct bytes key)
{
    struct bytes part, rest = key;

    text_printf(path, "%s='", name);
    do {
        bytes_cut(rest, '\'', &part, &rest);
        text_add(path, percent_encode(path->arena, part, ""));
        if (rest.ptr)
            text_add_string(path, "%27%27");
    } while (rest.ptr);
    text_add_char(path, '\'');
}

static bool is_of_server(struct bytes name)
{
    return bytes_has_prefix(name, bytes_from_string("odata.")) || bytes_is(name, "Timestamp") ||
           bytes_is(name, "Timestamp@odata.type");
}

/* Copies the entity without properties set by the service. Returns false if it is not an object. */
static bool copy_members(struct arena *arena, struct bytes entity, struct text *to)
{
    struct json_reader reader;
    struct json_member member;
    bool follows = false;

    text_add_char(to, '{');
    json_object_init(&reader, arena, entity, DEPTH);
    while (json_next(&reader, &member)) {
        if (is_of_server(member.name) || member.kind == JSON_NULL)
            continue;
        if (follows)
            text_add_char(to, ',');
        follows = true;
        json_write_string(to, member.name);
        text_add_char(to, ':');
        if (member.kind == JSON_STRING)
            json_write_string(to, member.text);
        else if (member.kind == JSON_TRUE || member.kind == JSON_FALSE)
            text_add_string(to, member.kind == JSON_TRUE ? "true" : "false");
        else
            text_add(to, member.text);
    }
    text_add_char(to, '}');
    return !reader.bad;
}

bool sink_put_entity(struct worker *worker, const struct item *item)
{
    static const char *const keys[] = { "PartitionKey", "RowKey" };
    struct arena *arena = worker->arena;
    struct json_member of[2];
    struct sink_request request = { .method = "PUT",
                                    .service = ENDPOINT_TABLE,
                                    .query = bytes_of("", 0),
                                    .headers = json_headers(arena) };
    struct text path, body;

    text_init(&body, arena, item->body.len + 64);
    if (!json_object_pick(arena, item->body, DEPTH, keys, 2, of) || of[0].kind != JSON_STRING ||
        of[1].kind != JSON_STRING || !copy_members(arena, item->body, &body))
        return worker_problem(worker, "table %.*s has an entity without its two keys",
                              BYTES_ARG(item->parent));
    text_init(&path, arena, 256);
    text_printf(&path, "/%.*s(", BYTES_ARG(percent_encode(arena, item->parent, "")));
    add_key(&path, "PartitionKey", of[0].text);
    text_add_char(&path, ',');
    add_key(&path, "RowKey", of[1].text);
    text_add_char(&path, ')');
    request.path = text_bytes(&path);
    request.body = text_bytes(&body);
    return sink_ask(worker, &request, NULL);
}
