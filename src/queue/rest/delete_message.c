/* Delete Message, Clear Messages as requests and answers. */
#include "queue/rest/request.h"

/* rest: Delete-Message2 */
enum error delete_message_check(struct call *call, struct delete_message_parameters *p)
{
    return read_claim(call, &p->claim);
}

void delete_message_answer(struct answer *a, const struct delete_message_parameters *p,
                           const struct delete_message_result *r)
{
    (void)p;
    (void)r;
    answer_status(a, 204);
}

/* rest: Clear-Messages */
enum error clear_messages_check(struct call *call, struct clear_messages_parameters *p)
{
    (void)call;
    p->space = guid_new();
    return OK;
}

void clear_messages_answer(struct answer *a, const struct clear_messages_parameters *p,
                           const struct clear_messages_result *r)
{
    (void)p;
    (void)r;
    answer_status(a, 204);
}
