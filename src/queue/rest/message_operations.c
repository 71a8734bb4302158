/* Put Message, Update Message, Delete Message and Clear Messages: parsing of requests, rendering of
 * responses. */
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

/* Since 2016-05-31 the response has what an update or delete needs. */
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

/* Without a body the text is unchanged. */
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
