/* Decisions of Put Message, Update Message, Delete Message and Clear Messages: see
 * message_operations.h. */
#include "queue/expire_messages.h"
#include "queue/message_operations.h"

/* ---- Put Message ---- */

/* Returns the expiry; beyond the calendar it is never. */
static instant expiry_of(instant now, uint64_t ttl_s)
{
    if (ttl_s == 0 || ttl_s >= (MESSAGE_NEVER - now) / TICKS_PER_SECOND)
        return MESSAGE_NEVER;
    return now + ttl_s * TICKS_PER_SECOND;
}

/* Adds a message after all that are visible by then. Its receipt is equivalent to that of a get.
 * rest: Put-Message */
enum error put_message_decide(struct decision *d, const struct put_message_parameters *p,
                              struct put_message_result *r)
{
    instant now = message_now(d), expires = expiry_of(now, p->ttl_s);
    enum store_result result;

    r->message = (struct message){
        .id = message_id(d->now, expires, p->random),
        .visible = now + p->visibility_s * TICKS_PER_SECOND,
        .expires = expires,
        .text = p->text,
    };
    message_show(d, &r->message);
    message_write_new(d->changes, d->arena, &r->message);
    result = expire_messages_at(d, expires);
    return result ? decision_fail_store(d, result) : OK;
}

/* ---- Update Message ---- */

/* Sets when the message becomes visible again, and its text if given. Does not count as a dequeue.
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
    message_show(d, &r->message);
    message_move(d->changes, d->arena, &before, &r->message);
    if (p->text.ptr) {
        struct message written = r->message;

        written.text = p->text;
        message_write_text(d->changes, d->arena, &written);
    }
    return OK;
}

/* ---- Delete Message, Clear Messages ---- */

/* rest: Delete-Message2 */
enum error delete_message_decide(struct decision *d, const struct delete_message_parameters *p,
                                 struct delete_message_result *r)
{
    struct message message;
    enum error e = message_find(d, &p->claim, &message);

    (void)r;
    if (!e)
        message_remove(d->changes, &message);
    return e;
}

/* Deletes all messages at once by giving the queue a new space and dropping the old one. A
 * concurrent put goes into one of the two. rest: Clear-Messages */
enum error clear_messages_decide(struct decision *d, const struct clear_messages_parameters *p,
                                 struct clear_messages_result *r)
{
    struct queue queue = queue_state(d)->queue;

    (void)r;
    changes_drop_space(d->changes, queue.space);
    queue.space = p->space;
    queue_write(d, &queue);
    return OK;
}
