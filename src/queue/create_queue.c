/* Create Queue. */
#include "queue/queue_operations.h"
#include "service/metadata_run.h"

/* Creates a queue with its metadata. One that is there with the same metadata is left as it is.
 *
 * returns  OK, E_QueueAlreadyExists
 * rest: Create-Queue4; the wait after a deletion is not needed here (decision: 120) */
enum error create_queue_decide(struct decision *d, const struct create_queue_parameters *p,
                               struct create_queue_result *r)
{
    struct queue queue;
    enum store_result result = queue_read(d->before, d->arena, &queue);

    if (!result) {
        r->existed = metadata_equal(queue.metadata, p->metadata);
        return r->existed ? OK : E_QueueAlreadyExists;
    }
    if (result != STORE_NOT_FOUND)
        return decision_fail_store(d, result);
    queue = (struct queue){ .space = p->space, .created = d->now, .metadata = p->metadata };
    queue_write(d, &queue);
    return OK;
}
