/* An ask of the Queue service as a request. */
#include "queue_request.h"

#include <nettle/base64.h>
#include <stdio.h>
#include <string.h>

#include "auth/auth.h"
#include "draft.h"
#include "queue_model.h"
#include "times.h"

static const struct {
    enum http_method method;
    const char *text;
    const char *query; /* NULL: none */
} forms[QUEUE_OPS] = {
    [QUEUE_LIST] = { METHOD_GET, "GET", "comp=list" },
    [QUEUE_CREATE] = { METHOD_PUT, "PUT", NULL },
    [QUEUE_DELETE] = { METHOD_DELETE, "DELETE", NULL },
    [QUEUE_GET_METADATA] = { METHOD_GET, "GET", "comp=metadata" },
    [QUEUE_SET_METADATA] = { METHOD_PUT, "PUT", "comp=metadata" },
    [QUEUE_GET_ACL] = { METHOD_GET, "GET", "comp=acl" },
    [QUEUE_SET_ACL] = { METHOD_PUT, "PUT", "comp=acl" },
    [QUEUE_PUT] = { METHOD_POST, "POST", NULL },
    [QUEUE_GET] = { METHOD_GET, "GET", NULL },
    [QUEUE_PEEK] = { METHOD_GET, "GET", "peekonly=true" },
    [QUEUE_CLEAR] = { METHOD_DELETE, "DELETE", NULL },
    [QUEUE_UPDATE] = { METHOD_PUT, "PUT", NULL },
    [QUEUE_DELETE_MESSAGE] = { METHOD_DELETE, "DELETE", NULL },
};

static const char *const names[QUEUE_OPS] = {
    [QUEUE_LIST] = "List Queues",
    [QUEUE_CREATE] = "Create Queue",
    [QUEUE_DELETE] = "Delete Queue",
    [QUEUE_GET_METADATA] = "Get Queue Metadata",
    [QUEUE_SET_METADATA] = "Set Queue Metadata",
    [QUEUE_GET_ACL] = "Get Queue ACL",
    [QUEUE_SET_ACL] = "Set Queue ACL",
    [QUEUE_PUT] = "Put Message",
    [QUEUE_GET] = "Get Messages",
    [QUEUE_PEEK] = "Peek Messages",
    [QUEUE_CLEAR] = "Clear Messages",
    [QUEUE_UPDATE] = "Update Message",
    [QUEUE_DELETE_MESSAGE] = "Delete Message",
};

void queue_id_format(const unsigned char *id, char to[QUEUE_ID_TEXT])
{
    size_t used = 0;

    for (unsigned i = 0; i < MESSAGE_ID_SIZE; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            to[used++] = '-';
        used += (size_t)snprintf(to + used, 3, "%02x", id[i]);
    }
}

bool queue_id_parse(const char *text, unsigned char *ret_id)
{
    for (unsigned i = 0; i < MESSAGE_ID_SIZE; i++) {
        unsigned byte;

        if (*text == '-')
            text++;
        if (sscanf(text, "%2x", &byte) != 1)
            return false;
        ret_id[i] = (unsigned char)byte;
        text += 2;
    }
    return true;
}

void queue_format(const struct ask *ask, char *to, size_t size)
{
    static const char *const signatures[] = {
        "", " unsigned", " signed wrongly", " signed long ago", " by SAS ", " by policy "
    };
    const struct queue_ask *asked = &ask->queue;
    char id[QUEUE_ID_TEXT] = "", seconds[80] = "", policies[60] = "";
    bool of_message = asked->op == QUEUE_UPDATE || asked->op == QUEUE_DELETE_MESSAGE;

    if (of_message)
        queue_id_format(asked->id, id);
    if (asked->op == QUEUE_PUT || asked->op == QUEUE_GET || asked->op == QUEUE_UPDATE)
        (void)snprintf(seconds, sizeof seconds, " visibility=%d ttl=%d text=%u",
                       asked->visibility_s, asked->ttl_s, asked->text_length);
    if (asked->op == QUEUE_SET_ACL)
        (void)snprintf(policies, sizeof policies, " policies=%s,%s",
                       queue_letters[ask->queue.policies[0]],
                       queue_letters[ask->queue.policies[1]]);
    (void)snprintf(
        to, size, "%s %s %s%s%s%s%s%s%s count=%u%s%s meta=%u prefix='%s' max=%u%s",
        names[asked->op], container_names[ask->container], asked->id_is_odd ? "(no id)" : id,
        of_message ? " " : "", asked->receipt, asked->receipt_is_odd ? "(no receipt)" : "", seconds,
        policies, signatures[ask->signature], asked->count,
        ask->signature == SIGNED_BY_SAS      ? queue_letters[ask->sas]
        : ask->signature == SIGNED_BY_POLICY ? (ask->sas ? "p1" : "p0")
                                             : "",
        asked->malformed ? " malformed" : "", ask->metadata, list_prefixes[ask->page.prefix],
        ask->page.max, ask->page.marker[0] ? " by marker" : "");
}

/* ---- the query ---- */

static void begin_parameter(struct text *query, const char *name)
{
    text_printf(query, "%s%s=", query->len > 0 ? "&" : "", name);
}

static void add_number(struct text *query, const char *name, int64_t number)
{
    begin_parameter(query, name);
    text_printf(query, "%lld", (long long)number);
}

static void add_escaped(struct text *query, const char *name, const char *value)
{
    begin_parameter(query, name);
    for (; *value; value++) {
        if (*value == '+' || *value == '/' || *value == '=')
            text_printf(query, "%%%02X", (unsigned)*value);
        else
            text_add_char(query, *value);
    }
}

static void add_page(struct text *query, const struct page_ask *page)
{
    if (page->include & INCLUDE_METADATA)
        text_add_string(query, "&include=metadata");
    if (page->prefix > 0)
        text_printf(query, "&prefix=%s", list_prefixes[page->prefix]);
    if (page->max > 0)
        text_printf(query, "&maxresults=%u", page->max);
    if (page->marker[0])
        text_printf(query, "&marker=%s", page->marker);
}

/* rest: Create-service-SAS; of version 2020-08-04 */
static void add_signature(struct text *query, const struct ask *ask)
{
    static const char version[] = "2020-08-04", expiry[] = "2100-01-01T00:00:00Z";
    const char *letters =
        queue_letters[ask->signature == SIGNED_BY_POLICY ? ask->terms.letters : ask->sas];
    char plain[400], policy[8] = "", signature[64];

    if (ask->signature < SIGNED_BY_SAS)
        return;
    if (ask->signature == SIGNED_BY_POLICY)
        (void)snprintf(policy, sizeof policy, "p%u", ask->sas);
    (void)snprintf(plain, sizeof plain, "%s\n\n%s\n/queue/" DEVELOPMENT_ACCOUNT "/%s\n%s\n\n\n%s",
                   letters, expiry, container_names[ask->container], policy, version);
    request_mac(plain, signature, sizeof signature);
    begin_parameter(query, "sv");
    text_printf(query, "%s&se=%s%s%s%s%s", version, expiry, policy[0] ? "&si=" : "", policy,
                letters[0] ? "&sp=" : "", letters);
    add_escaped(query, "sig", signature);
}

static struct bytes make_query(const struct ask *ask, struct arena *arena)
{
    const struct queue_ask *asked = &ask->queue;
    bool names_message = asked->op == QUEUE_UPDATE || asked->op == QUEUE_DELETE_MESSAGE;
    struct text query;

    text_init(&query, arena, 256);
    if (forms[asked->op].query)
        text_add_string(&query, forms[asked->op].query);
    if (asked->op == QUEUE_LIST)
        add_page(&query, &ask->page);
    if (asked->count > 0)
        add_number(&query, "numofmessages", asked->count);
    if (names_message)
        add_escaped(&query, "popreceipt", asked->receipt_is_odd ? "AAAA" : asked->receipt);
    if (asked->malformed && !asked->malformed->body)
        text_printf(&query, "%s%s", query.len > 0 ? "&" : "", asked->malformed->parameters);
    else if (asked->op == QUEUE_PUT || asked->op == QUEUE_GET || asked->op == QUEUE_UPDATE) {
        if (asked->visibility_s != NOT_SENT)
            add_number(&query, "visibilitytimeout", asked->visibility_s);
        if (asked->op == QUEUE_PUT && asked->ttl_s != NOT_SENT)
            add_number(&query, "messagettl", asked->ttl_s);
    }
    add_signature(&query, ask);
    return query.len > 0 ? text_bytes(&query) : (struct bytes){ NULL, 0 };
}

/* ---- the body ---- */

static void add_text(struct text *body, const struct queue_ask *asked)
{
    text_add_string(body, "<QueueMessage><MessageText>");
    for (uint32_t i = 0; i < asked->text_length; i++) {
        char c = queue_text_char(asked->text, i);

        if (c == '&')
            text_add_string(body, "&amp;");
        else if (c == '<')
            text_add_string(body, "&lt;");
        else
            text_add_char(body, c);
    }
    text_add_string(body, "</MessageText></QueueMessage>");
}

/* rest: Set-Queue-ACL */
static void add_policies(struct text *body, const struct ask *ask)
{
    text_add_string(body, "<?xml version=\"1.0\" encoding=\"utf-8\"?><SignedIdentifiers>");
    for (unsigned i = 0; i < POLICIES; i++) {
        if (ask->queue.policies[i])
            text_printf(body,
                        "<SignedIdentifier><Id>p%u</Id><AccessPolicy><Permission>%s</Permission>"
                        "</AccessPolicy></SignedIdentifier>",
                        i, queue_letters[ask->queue.policies[i]]);
    }
    text_add_string(body, "</SignedIdentifiers>");
}

static struct bytes make_body(const struct ask *ask, struct arena *arena)
{
    const struct queue_ask *asked = &ask->queue;
    struct text body;

    text_init(&body, arena, 256 + asked->text_length);
    if (asked->malformed && asked->malformed->body)
        text_add_string(&body, asked->malformed->body);
    else if (asked->op == QUEUE_PUT || (asked->op == QUEUE_UPDATE && asked->has_text))
        add_text(&body, asked);
    else if (asked->op == QUEUE_SET_ACL)
        add_policies(&body, ask);
    return text_bytes(&body);
}

static struct bytes make_path(const struct ask *ask, struct arena *arena)
{
    const struct queue_ask *asked = &ask->queue;
    const char *queue = container_names[ask->container];
    char id[QUEUE_ID_TEXT];

    if (asked->op == QUEUE_LIST)
        return bytes_from_string("/" DEVELOPMENT_ACCOUNT "/");
    if (asked->op < QUEUE_PUT)
        return arena_printf(arena, "/" DEVELOPMENT_ACCOUNT "/%s", queue);
    if (asked->op < QUEUE_UPDATE)
        return arena_printf(arena, "/" DEVELOPMENT_ACCOUNT "/%s/messages", queue);
    queue_id_format(asked->id, id);
    return arena_printf(arena, "/" DEVELOPMENT_ACCOUNT "/%s/messages/%s", queue,
                        asked->id_is_odd ? "none" : id);
}

void queue_write_request(const struct ask *ask, struct arena *arena, struct draft *ret_draft)
{
    const struct queue_ask *asked = &ask->queue;
    struct draft draft = { .method = forms[asked->op].method,
                           .method_text = forms[asked->op].text,
                           .path = make_path(ask, arena),
                           .query = make_query(ask, arena),
                           .body = make_body(ask, arena) };

    if (ask->metadata > 0) {
        draft.headers[0].name = "x-ms-meta-v";
        draft.headers[0].value = arena_printf(arena, "%u", ask->metadata);
        draft.header_count = 1;
    }
    *ret_draft = draft;
}

void queue_read_header(const struct http_header *header, struct reply *reply)
{
    struct queue_reply *queue = &reply->queue;
    char text[80];

    (void)snprintf(text, sizeof text, "%.*s", BYTES_ARG(header->value));
    if (bytes_is_nocase(header->name, "x-ms-popreceipt"))
        (void)snprintf(queue->receipt, sizeof queue->receipt, "%.47s", text);
    else if (bytes_is_nocase(header->name, "x-ms-time-next-visible"))
        queue->visible_s = times_http_seconds(text);
    else if (bytes_is_nocase(header->name, "x-ms-approximate-messages-count")) {
        queue->has_count = true;
        (void)sscanf(text, "%20llu", (unsigned long long *)&queue->count);
    }
}
