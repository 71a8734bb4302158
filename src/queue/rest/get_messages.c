/* Get Messages, Peek Messages: parsing of requests and rendering as XML. rest: Get-Messages,
 * Peek-Messages */
#include "queue/rest/request.h"

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
