/* Queues and their messages, made on a server. Until it has all of its messages a queue has a mark in its metadata: an
 * import that finds it there empties the queue and begins anew; a queue with messages and without the mark is somebody
 * else's, and stays as it is. rest: Create-Queue4, Put-Message, Clear-Messages */
#include "transfer/sink.h"

#include <inttypes.h>

#include "base/xml.h"

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

/* Of one that is there. */
static bool begin_again(struct worker *worker, const struct item *item)
{
    struct bytes path = sink_path(worker->arena, item->parent, bytes_of("", 0));
    const struct asking asking = { .method = "GET",
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

    if (!asker_ask(worker->to, worker->arena, &asking, &answer))
        return worker_problem(worker, "%s", asker_problem(worker->to));
    (void)bytes_parse_u64(fetch_head_find(&answer.head, "x-ms-approximate-messages-count"),
                          UINT64_MAX, &messages);
    if (fetch_head_find(&answer.head, ITEM_QUEUE_MARK).ptr)
        return sink_ask(worker, &clear, NULL);
    if (messages > 0)
        return worker_problem(worker,
                              "the target has a queue %.*s with messages: it stays as it is",
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
    /* 204: it is there with the same metadata, the mark among it. */
    return status == 201 || begin_again(worker, item);
}

/* Returns the seconds until a message expires, for messagettl, or "-1" if it never does. Its expiry comes without fractions of a
 * second, and is put off by up to two seconds rather than shortened: `now` may be a second behind. decision: 909 */
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
    struct bytes left = seconds_left(arena, item->date, asker_now(worker->to));
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
