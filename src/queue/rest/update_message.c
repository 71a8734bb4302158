/* Update Message as a request and as an answer. rest: Update-Message */
#include "queue/rest/request.h"

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

/* No body: the text stays. */
enum error update_message_parse(struct call *call, struct update_message_parameters *p)
{
    return call->input.body.length > 0 ? read_text(call, &p->text) : OK;
}

void update_message_answer(struct answer *a, const struct update_message_parameters *p,
                           const struct update_message_result *r)
{
    (void)p;
    answer_status(a, 204);
    answer_header(a, "x-ms-popreceipt", receipt_text(a->arena, message_receipt(&r->message)));
    answer_date(a, "x-ms-time-next-visible", message_shown(r->message.visible));
}
