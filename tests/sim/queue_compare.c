/* Field by field. */
#include "queue_compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue_request.h"
#include "times.h"
#include "views.h"

#define UNIX_EPOCH_S INT64_C(62135596800)
/* "Fri, 31 Dec 9999 23:59:59 GMT" */
#define NEVER_S      INT64_C(253402300799)

/* ---- XML ---- */

struct span {
    const char *from, *to;
};

/* What stands between <name> and </name>; from NULL: it is not there. */
static struct span element(struct span in, const char *name)
{
    char open[40], close[40];
    struct span found = { NULL, NULL };
    const char *at;

    (void)snprintf(open, sizeof open, "<%s>", name);
    (void)snprintf(close, sizeof close, "</%s>", name);
    at = strstr(in.from, open);
    if (!at || at >= in.to)
        return found;
    found.from = at + strlen(open);
    found.to = strstr(found.from, close);
    if (!found.to || found.to > in.to)
        found.from = NULL;
    return found;
}

static void copy(struct span span, char *to, size_t size)
{
    (void)snprintf(to, size, "%.*s", span.from ? (int)(span.to - span.from) : 0,
                   span.from ? span.from : "");
}

static int64_t seconds(struct span in, const char *name)
{
    char text[40];

    copy(element(in, name), text, sizeof text);
    return times_http_seconds(text);
}

static struct item read_item(struct span in)
{
    struct span text = element(in, "MessageText");
    struct item item = { .inserted_s = seconds(in, "InsertionTime"),
                         .expires_s = seconds(in, "ExpirationTime"),
                         .visible_s = seconds(in, "TimeNextVisible"),
                         .text = text.from };
    char id[QUEUE_ID_TEXT], number[20];

    copy(element(in, "MessageId"), id, sizeof id);
    queue_id_parse(id, item.id);
    copy(element(in, "PopReceipt"), item.receipt, sizeof item.receipt);
    copy(element(in, "DequeueCount"), number, sizeof number);
    item.dequeued = (unsigned)strtoul(number, NULL, 10);
    item.text_size = text.from ? (size_t)(text.to - text.from) : 0;
    if (!text.from && element(in, "DequeueCount").from)
        item.text = ""; /* <MessageText /> */
    return item;
}

unsigned queue_items(const struct reply *answer, struct item items[MESSAGES_SHOWN])
{
    struct span rest = { (const char *)answer->body,
                         (const char *)answer->body + answer->body_size };
    struct span one;
    unsigned count = 0;

    answer->body[answer->body_size] = '\0';
    while ((one = element(rest, "QueueMessage")).from) {
        if (count < MESSAGES_SHOWN)
            items[count] = read_item(one);
        count++;
        rest.from = one.to;
    }
    return count;
}

/* ---- messages ---- */

static bool is_text(const struct item *item, uint64_t seed, uint32_t length)
{
    static const struct {
        const char *name;
        char described_length;
    } escapes[] = { { "&amp;", '&' }, { "&lt;", '<' }, { "&gt;", '>' } };
    const char *at = item->text, *end = at + item->text_size;

    for (uint32_t i = 0; i < length; i++) {
        char c = queue_text_char(seed, i), is = at < end ? *at : '\0';
        size_t step = 1;

        for (unsigned e = 0; e < 3 && is == '&'; e++) {
            if (strncmp(at, escapes[e].name, strlen(escapes[e].name)) != 0)
                continue;
            is = escapes[e].described_length;
            step = strlen(escapes[e].name);
        }
        if (at >= end || is != c)
            return false;
        at += step;
    }
    return at == end;
}

static bool is_second(int64_t second, uint64_t instant)
{
    return second == (int64_t)(instant / INSTANTS_A_SECOND) - UNIX_EPOCH_S;
}

/* A time of visibility or expiry, by the clock as it was between the decision and the answer. */
static bool is_shown(int64_t second, uint64_t time, const struct queue_expected *expected)
{
    if (time == NEVER)
        return second == NEVER_S;
    return second >= (int64_t)((time + expected->shift) / INSTANTS_A_SECOND) - UNIX_EPOCH_S &&
           second <= (int64_t)((time + expected->shift_later) / INSTANTS_A_SECOND) - UNIX_EPOCH_S;
}

static const char *compare_item(enum queue_op op, const struct shown *shown,
                                const struct item *item, const struct queue_expected *expected)
{
    const struct message_state *state = &shown->state;
    const struct sim_message *message = shown->message;

    if (message && memcmp(message->id, item->id, MESSAGE_ID_SIZE) != 0)
        return "another message";
    if (message && !is_second(item->inserted_s, message->inserted))
        return "another time of insertion";
    if (!is_shown(item->expires_s, message ? message->expires : expected->expires, expected))
        return "another time of expiry";
    if (op != QUEUE_PEEK && !is_shown(item->visible_s, state->visible, expected))
        return "another time of visibility";
    if ((op == QUEUE_PEEK) != (item->receipt[0] == '\0'))
        return "a receipt, or none";
    if (op == QUEUE_PUT)
        return item->text ? "a text" : NULL;
    if (item->dequeued != state->dequeued)
        return "another dequeue count";
    if (!item->text || !is_text(item, state->text, state->text_length))
        return "another text";
    return NULL;
}

static const char *compare_messages(enum queue_op op, const struct queue_expected *expected,
                                    const struct reply *answer)
{
    static struct item items[MESSAGES_SHOWN];

    if (queue_items(answer, items) != expected->count)
        return "another number of messages";
    for (unsigned i = 0; i < expected->count; i++) {
        const char *why = compare_item(op, &expected->shown[i], &items[i], expected);

        if (why)
            return why;
    }
    return NULL;
}

/* ---- queues ---- */

static const char *compare_policies(const struct sim_queue *queue, const struct reply *answer)
{
    const char *xml = (const char *)answer->body;

    answer->body[answer->body_size] = '\0';
    for (unsigned i = 0; i < POLICIES; i++) {
        char policy[120];
        int used = snprintf(policy, sizeof policy, "<Id>p%u</Id>", i);

        if (queue->policies[i])
            (void)snprintf(policy + used, sizeof policy - (size_t)used,
                           "<AccessPolicy><Permission>%s</Permission>",
                           queue_letters[queue->policies[i]]);
        if (!strstr(xml, policy) == !!queue->policies[i])
            return "other policies";
    }
    return NULL;
}

const char *queue_compare(const struct ask *ask, const struct queue_expected *expected,
                          const struct reply *answer)
{
    enum queue_op op = ask->queue.op;

    if (answer->status != expected->status)
        return expected->code ? expected->code : "another status";
    if (strcmp(answer->code, expected->code ? expected->code : "") != 0)
        return expected->code ? expected->code : "an error code";
    if (expected->code)
        return NULL;
    if (op == QUEUE_PUT || op == QUEUE_GET || op == QUEUE_PEEK)
        return compare_messages(op, expected, answer);
    if (op == QUEUE_GET_ACL)
        return compare_policies(&expected->queue, answer);
    if (op == QUEUE_UPDATE && !answer->queue.receipt[0])
        return "no receipt";
    if (op == QUEUE_UPDATE &&
        !is_shown(answer->queue.visible_s, expected->shown[0].state.visible, expected))
        return "another time of visibility";
    if (op != QUEUE_GET_METADATA)
        return NULL;
    if (answer->metadata != expected->queue.metadata)
        return "other metadata";
    if (!answer->queue.has_count || answer->queue.count < expected->count_least)
        return "fewer messages than there are";
    return answer->queue.count > expected->count_most ? "more messages than there are" : NULL;
}

/* ---- List Queues ---- */

static const unsigned by_name[QUEUES] = { 0, 2, 1 };

static bool fits(const struct page_ask *page, unsigned queue)
{
    const char *prefix = list_prefixes[page->prefix];

    return strncmp(container_names[queue], prefix, strlen(prefix)) == 0;
}

static const char *compare_entry(const struct page_ask *page, struct span entry, unsigned queue,
                                 uint64_t commit)
{
    unsigned expected =
        page->include & INCLUDE_METADATA ? queue_at(queue, views_at(queue, commit))->metadata : 0;
    char name[80], metadata[20];

    copy(element(entry, "Name"), name, sizeof name);
    if (strcmp(name, container_names[queue]) != 0)
        return "another queue";
    copy(element(entry, "v"), metadata, sizeof metadata);
    return strtoul(metadata, NULL, 10) == expected ? NULL : "other metadata of a queue";
}

/* Of the real service: "/account/queue". next: QUEUES is none. */
static const char *compare_marker(const struct page_ask *page, struct span marker, unsigned next,
                                  struct page_ask *ret_next)
{
    char text[MARKER_SIZE];
    const char *name;

    copy(marker, text, sizeof text);
    if ((text[0] != '\0') != (next < QUEUES))
        return "a marker, or none";
    if (next == QUEUES)
        return NULL;
    name = strrchr(text, '/');
    if (!name || strcmp(name + 1, container_names[by_name[next]]) != 0)
        return "another marker";
    *ret_next = *page;
    ret_next->from = next;
    memcpy(ret_next->marker, text, sizeof text);
    return NULL;
}

const char *queue_compare_list(const struct ask *ask, const struct reply *answer, uint64_t commit,
                               struct page_ask *ret_next)
{
    const struct page_ask *page = &ask->page;
    struct span rest = { (const char *)answer->body,
                         (const char *)answer->body + answer->body_size };
    unsigned shown = 0, max = page->max ? page->max : 5000, next = QUEUES;
    const char *why = NULL;
    struct span marker;

    answer->body[answer->body_size] = '\0';
    marker = element(rest, "NextMarker");
    for (unsigned i = page->from; i < QUEUES && next == QUEUES && !why; i++) {
        struct span entry;

        if (!queue_at(by_name[i], views_at(by_name[i], commit))->exists || !fits(page, by_name[i]))
            continue;
        if (shown++ == max) {
            next = i;
            continue;
        }
        entry = element(rest, "Queue");
        why = entry.from ? compare_entry(page, entry, by_name[i], commit) : "a queue is missing";
        rest.from = entry.from ? entry.to : rest.from;
    }
    if (!why && element(rest, "Queue").from)
        why = "more queues than there are";
    *ret_next = (struct page_ask){ 0 };
    return why ? why : compare_marker(page, marker, next, ret_next);
}
