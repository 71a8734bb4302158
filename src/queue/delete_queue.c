/* Delete Queue. */
#include "queue/queue_operations.h"

/* Deletes the queue's record and drops the space of its messages in one change.
 * rest: Delete-Queue3; decision: 120 */
enum error delete_queue_decide(struct decision *d, const struct delete_queue_parameters *p,
                               struct delete_queue_result *r)
{
    (void)p;
    (void)r;
    queue_delete_record(d->changes);
    changes_drop_space(d->changes, queue_state(d)->queue.space);
    return OK;
}
