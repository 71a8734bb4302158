/* Operations on messages: parsing of requests, rendering of responses. */
#include "queue/rest/request.h"

/* ---- Put Message ---- */

/* Reads messagettl: -1 never expires; before 2017-07-29 at most seven days. */
static enum error read_ttl(struct call *call, uint64_t *ret_seconds)
{
    const char *name = "messagettl";
    int64_t most = call_since(call, "2017-07-29") ? INT32_MAX : TTL_DEFAULT_S;
    int64_t seconds = TTL_DEFAULT_S;
    enum error e = read_number(call, name, most == INT32_MAX ? -1 : 1, most, &seconds);

    if (!e && seconds == 0)
        e = fail_range(call, name, call_query(call, name), 1, most);
    *ret_seconds = seconds > 0 ? (uint64_t)seconds : 0;
    return e;
}

enum error put_message_check(struct call *call, struct put_message_parameters *p)
{
    const char *name = "visibilitytimeout";
    enum error e = read_ttl(call, &p->ttl_s);

    if (!e)
        e = read_visibility(call, 0, &p->visibility_s);
    if (e)
        return e;
    /* decision: 123 */
    if (p->ttl_s > 0 && p->visibility_s >= p->ttl_s && call_query(call, name).ptr)
        return call_fail_query(call, E_InvalidQueryParameterValue, name, call_query(call, name),
                               "messagettl must be greater than visibilitytimeout.");
    p->random = guid_new();
    return OK;
}

enum error put_message_parse(struct call *call, struct put_message_parameters *p)
{
    return read_text(call, &p->text);
}

/* Since 2016-05-31 the response contains everything that an update or delete needs. */
void put_message_answer(struct answer *a, const struct put_message_parameters *p,
                        const struct put_message_result *r)
{
    struct text out;

    (void)p;
    if (!call_since(a->call, "2016-05-31"))
        return;
    text_init(&out, a->arena, 512);
    messages_xml(&out, &r->message, 1, SHOW_RECEIPT);
    answer_xml(a, &out);
}

/* ---- Update Message ---- */

enum error update_message_check(struct call *call, struct update_message_parameters *p)
{
    enum error e = read_claim(call, &p->claim);

    if (e)
        return e;
    if (!call_query(call, "visibilitytimeout").ptr)
        return call_fail_query(call, E_MissingRequiredQueryParameter, "visibilitytimeout",
                               (struct bytes){ NULL, 0 }, NULL);
    return read_visibility(call, 0, &p->visibility_s);
}

/* Parses the body. Without a body, the text remains unchanged. */
enum error update_message_parse(struct call *call, struct update_message_parameters *p)
{
    return call->input.body.length > 0 ? read_text(call, &p->text) : OK;
}

void update_message_answer(struct answer *a, const struct update_message_parameters *p,
                           const struct update_message_result *r)
{
    (void)p;
    answer_header(a, "x-ms-popreceipt", receipt_text(a->arena, message_receipt(&r->message)));
    answer_date(a, "x-ms-time-next-visible", r->message.visible_shown);
}

/* ---- Delete Message, Clear Messages ---- */

/* rest: Delete-Message2 */
enum error delete_message_check(struct call *call, struct delete_message_parameters *p)
{
    return read_claim(call, &p->claim);
}

OPERATION_ANSWERS_NOTHING(delete_message)

/* rest: Clear-Messages */
enum error clear_messages_check(struct call *call, struct clear_messages_parameters *p)
{
    (void)call;
    p->space = guid_new();
    return OK;
}

OPERATION_ANSWERS_NOTHING(clear_messages)

/* Get Messages, Peek Messages: parsing of requests and rendering as XML. rest: Get-Messages,
 * Peek-Messages */

static void answer_messages(struct answer *a, const struct message_list *list, unsigned parts)
{
    size_t bytes = 1024;
    struct text out;

    for (uint32_t i = 0; i < list->count; i++)
        bytes += 512 + list->items[i].text.len;
    text_init(&out, a->arena, bytes);
    messages_xml(&out, list->items, list->count, parts);
    answer_xml(a, &out);
}

/* peekonly=true selects another operation, Peek Messages. */
enum error get_messages_check(struct call *call, struct get_messages_parameters *p)
{
    struct bytes peek = call_query(call, "peekonly");
    enum error e;

    if (peek.ptr && !bytes_is_nocase(peek, "false"))
        return call_fail_query(call, E_InvalidQueryParameterValue, "peekonly", peek,
                               "Neither true nor false.");
    p->visibility_s = VISIBILITY_DEFAULT_S;
    e = read_message_count(call, &p->count);
    return e ? e : read_visibility(call, 1, &p->visibility_s);
}

void get_messages_answer(struct answer *a, const struct get_messages_parameters *p,
                         const struct get_messages_result *r)
{
    (void)p;
    answer_messages(a, &r->list, SHOW_RECEIPT | SHOW_CONTENT);
}

enum error peek_messages_check(struct call *call, struct peek_messages_parameters *p)
{
    return read_message_count(call, &p->count);
}

void peek_messages_answer(struct answer *a, const struct peek_messages_parameters *p,
                          const struct peek_messages_result *r)
{
    (void)p;
    answer_messages(a, &r->list, SHOW_CONTENT);
}
