/* Put Message. */
#include "queue/expire_messages.h"
#include "queue/message_operations.h"

/* An expiry that the calendar does not have is never. */
static instant expiry_of(instant now, uint64_t ttl_s)
{
    if (ttl_s == 0 || ttl_s >= (MESSAGE_NEVER - now) / TICKS_PER_SECOND)
        return MESSAGE_NEVER;
    return now + ttl_s * TICKS_PER_SECOND;
}

/* Adds a message behind all that are visible by then. Its receipt is as good as one of a get.
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
    message_write_new(d->changes, d->arena, &r->message);
    result = expire_messages_at(d, expires);
    return result ? decision_fail_store(d, result) : OK;
}
