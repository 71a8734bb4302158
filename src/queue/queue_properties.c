/* Get Queue Metadata, Set Queue Metadata. */
#include "queue/message.h"
#include "queue/queue_operations.h"

/* The count is kept, not counted. rest: Get-Queue-Metadata "x-ms-approximate-messages-count" */
enum error get_queue_metadata_decide(struct decision *d,
                                     const struct get_queue_metadata_parameters *p,
                                     struct get_queue_metadata_result *r)
{
    const struct queue *queue = &queue_state(d)->queue;
    uint64_t sequence = 0;
    int64_t count = 0;
    enum store_result result =
        store_count(d->store, queue->space, message_counter, d->access, &count, &sequence);

    (void)p;
    if (result)
        return decision_fail_store(d, result);
    decision_saw(d, sequence);
    r->metadata = queue->metadata;
    r->messages = count > 0 ? (uint64_t)count : 0;
    return OK;
}

/* Replaces all metadata; the last writer wins. rest: Set-Queue-Metadata */
enum error set_queue_metadata_decide(struct decision *d,
                                     const struct set_queue_metadata_parameters *p,
                                     struct set_queue_metadata_result *r)
{
    struct queue queue = queue_state(d)->queue;

    (void)r;
    queue.metadata = p->metadata;
    queue_write(d, &queue);
    return OK;
}
