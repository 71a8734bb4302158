/* The resource of a Queue service request: names, partitions, permissions. */
#include "queue/queue.h"
#include "service/names.h"
#include "service/placement.h"

void queue_signed_names(const struct resource *resource, struct bytes *ret_queue,
                        struct bytes *ret_message)
{
    *ret_queue = queue_resource(resource)->queue;
    *ret_message = (struct bytes){ NULL, 0 }; /* a SAS is for a queue */
}

enum error queue_check_names(const struct resource *resource)
{
    struct bytes queue = queue_resource(resource)->queue;

    return queue.ptr ? name_check(queue) : OK;
}

struct guid queue_account_space(struct bytes account)
{
    return account_space("queue", account);
}

static enum error read_queue(struct decision *d, struct read_view *snapshot)
{
    enum store_result result = queue_read(snapshot, d->arena, &queue_state(d)->queue);

    if (result)
        return result == STORE_NOT_FOUND ? placement_missing(d, snapshot, E_QueueNotFound)
                                         : decision_fail_store(d, result);
    return OK;
}

enum error queue_locate(struct decision *d, struct partition *ret_partition)
{
    const struct queue_resource *asked = queue_asked(d);
    struct partition at = { .space = queue_account_space(d->input->account), .key = BYTES("") };
    struct queue_state *state = arena_alloc(d->arena, sizeof *state);
    struct decision_part *owner;
    enum error e;

    state->base.resource = d->input->resource;
    d->state = &state->base;
    if (d->level != LEVEL_QUEUES)
        at.key = asked->queue;
    if (d->level >= LEVEL_MESSAGES && !asked->all_messages) {
        owner = decision_open(d, at, NULL);
        e = read_queue(d, owner->before);
        decision_leave_owner(d, owner);
        if (e)
            return e;
        at = (struct partition){ .space = state->queue.space, .key = BYTES("") };
    }
    *ret_partition = at;
    return OK;
}

enum error queue_subject(struct decision *d)
{
    enum error e = read_queue(d, d->before);

    if (!e)
        d->subject = (struct subject){ .exists = true };
    return e;
}

/* Stored access policies belong to the queue. */
enum error queue_permit_facts(struct decision *d, struct permit_facts *ret_facts)
{
    if (decision_rests_on_policy(d) &&
        !policies_decode(queue_state(d)->queue.policies, &ret_facts->policies))
        return decision_fail_store(d, STORE_CORRUPT);
    return OK;
}
