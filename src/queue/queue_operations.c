/* Decisions of the operations on queues: see queue_operations.h. */
#include "queue/message.h"
#include "queue/queue_operations.h"
#include "service/metadata_run.h"
#include "service/placement.h"

/* ---- List Queues ---- */

/* Every queue is a partition of the account's space. rest: List-Queues1 */
enum error list_queues_decide(struct decision *d, const struct list_queues_parameters *p,
                              struct list_queues_result *r)
{
    return listing_of_space(d, queue_account_space(d->input->account), &p->listing, p->from,
                            p->sink, &r->next);
}

/* ---- Create Queue ---- */

/* Creates a queue with its metadata. Leaves an existing one with the same metadata unchanged.
 *
 * returns  OK, E_QueueAlreadyExists
 * rest: Create-Queue4; no waiting period after a deletion (decision: 120) */
enum error create_queue_decide(struct decision *d, const struct create_queue_parameters *p,
                               struct create_queue_result *r)
{
    struct queue queue;
    enum store_result result = queue_read(d->before, d->arena, &queue);
    bool is_elsewhere;
    enum error e;

    if (!result) {
        r->existed = metadata_equal(queue.metadata, p->metadata);
        return r->existed ? OK : E_QueueAlreadyExists;
    }
    if (result != STORE_NOT_FOUND)
        return decision_fail_store(d, result);
    e = placement_of_new(d, &is_elsewhere);
    if (e || is_elsewhere)
        return e;
    queue = (struct queue){ .space = p->space, .created = d->now, .metadata = p->metadata };
    queue_write(d, &queue);
    return OK;
}

/* ---- Delete Queue ---- */

/* Deletes the queue's record and drops the space of its messages in one change.
 * rest: Delete-Queue3; decision: 120 */
enum error delete_queue_decide(struct decision *d, const struct delete_queue_parameters *p,
                               struct delete_queue_result *r)
{
    enum store_result result;

    (void)p;
    (void)r;
    queue_delete_record(d->changes);
    changes_drop_space(d->changes, queue_state(d)->queue.space);
    result = placement_deleted(d);
    return result ? decision_fail_store(d, result) : OK;
}

/* ---- Get Queue Metadata ---- */

/* The count is maintained, not computed. rest: Get-Queue-Metadata
 * "x-ms-approximate-messages-count" */
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

/* Set Metadata and Set ACL. */
void queue_write_state(struct decision *d)
{
    queue_write(d, &queue_state(d)->queue);
}
