/* Update Message. */
#include "queue/message_operations.h"

/* Sets when the message is visible again, and its text where one is given. It does not count as a
 * get.
 * rest: Update-Message; decision: 122 */
enum error update_message_decide(struct decision *d, const struct update_message_parameters *p,
                                 struct update_message_result *r)
{
    struct message before;
    enum error e = message_find(d, &p->claim, &before);

    if (e)
        return e;
    r->message = before;
    r->message.visible = message_now(d) + p->visibility_s * TICKS_PER_SECOND;
    r->message.changes++;
    message_move(d->changes, d->arena, &before, &r->message);
    if (p->text.ptr) {
        struct message written = r->message;

        written.text = p->text;
        message_write_text(d->changes, d->arena, &written);
    }
    return OK;
}
