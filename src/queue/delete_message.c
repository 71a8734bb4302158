/* Delete Message, Clear Messages. */
#include "queue/message_operations.h"

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

/* All at once: the queue gets a new space for its messages, and the old one is dropped. A put that
 * is decided at the same time goes into one of the two. rest: Clear-Messages */
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
