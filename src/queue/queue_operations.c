/* Decisions of the operations on queues, records of queues, and resources of requests: see
 * queue_operations.h and queue.h. */
#include "queue/queue_operations.h"

#include "queue/message.h"
#include "queue/queue.h"
#include "service/metadata_run.h"
#include "service/names.h"
#include "service/placement.h"
#include "service/restore.h"
#include "service/small_record.h"
#include "service/usage.h"

/* The record of a queue: LISTED "q" in partition (account space, queue name).
 *
 *   version 1:  u8 1; space of the messages, 16 raw; created, ticks; bytes metadata
 *               (service/metadata.h); bytes policies (auth/policies.h)
 * To change it, add a version number, keep the old reader, and add a data folder of the old format
 * to the tests. */

#define RECORD_VERSION 1

static const struct bytes record_key = BYTES("q");

bool queue_decode(struct bytes value, struct queue *ret_queue)
{
    struct queue queue = { .created = 0 };
    struct decoder in;

    decoder_init(&in, value);
    if (decode_u8(&in) != RECORD_VERSION)
        return false;
    decode_fixed(&in, queue.space.b, sizeof queue.space.b);
    queue.created = decode_u64(&in);
    queue.metadata = decode_bytes(&in);
    queue.policies = decode_bytes(&in);
    *ret_queue = queue;
    return decoder_ok(&in);
}

enum store_result queue_read(struct read_view *snapshot, struct arena *arena,
                             struct queue *ret_queue)
{
    struct record record;
    enum store_result result = read_view_get(snapshot, RECORD_LISTED, record_key, arena, &record);

    if (result)
        return result;
    if (!queue_decode(record.value, ret_queue))
        return record_is_unknown("a queue's record", record.value);
    return STORE_OK;
}

void queue_write(struct decision *d, const struct queue *queue)
{
    struct text out;

    text_init(&out, d->arena, 64 + queue->metadata.len + queue->policies.len);
    encode_u8(&out, RECORD_VERSION);
    encode_fixed(&out, queue->space.b, sizeof queue->space.b);
    encode_u64(&out, queue->created);
    encode_bytes(&out, queue->metadata);
    encode_bytes(&out, queue->policies);
    changes_put(d->changes, RECORD_LISTED, record_key, text_bytes(&out), NULL, 0);
}

/* ---- restoring from a backup: service/restore.h ---- */

static bool is_owner(struct bytes key)
{
    return bytes_equal(key, record_key);
}

static bool put_owner(struct decision *d, const struct record *record, struct bytes name,
                      struct guid space)
{
    struct queue queue;

    (void)name;
    if (!queue_decode(record->value, &queue))
        return false;
    queue.space = space;
    queue_write(d, &queue);
    return true;
}

const struct restore_functions queue_restore = {
    .check_name = name_check, .has_passed_times = true, .is_owner = is_owner, .put_owner = put_owner
};

/* ---- storage used: service/usage.h ---- */

static bool is_queue(const struct space_record *record, struct guid *ret_space,
                     uint64_t *ret_quota_bytes)
{
    struct queue queue;

    (void)ret_quota_bytes;
    if (!bytes_equal(record->record_key, record_key) || !queue_decode(record->value, &queue))
        return false;
    *ret_space = queue.space;
    return true;
}

/* Message bodies: queue/message.h. */
const struct usage_functions queue_usage = { .container = is_queue, .inner_prefix = "m" };

/* ---- List Queues ---- */

/* Lists the partitions of the account's space, one per queue. rest: List-Queues1 */
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
    changes_delete(d->changes, RECORD_LISTED, record_key);
    changes_drop_space(d->changes, queue_state(d)->queue.space);
    result = placement_deleted(d);
    return result ? decision_fail_store(d, result) : OK;
}

/* ---- Get Queue Metadata ---- */

/* Returns a count that is maintained with each change instead of counting messages. rest:
 * Get-Queue-Metadata "x-ms-approximate-messages-count" */
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

/* Writes the queue for Set Queue Metadata and Set Queue ACL. */
void queue_write_state(struct decision *d)
{
    queue_write(d, &queue_state(d)->queue);
}

/* ---- The resource of a Queue service request: names, partitions, permissions ---- */

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
    const struct queue_resource *requested = queue_requested(d);
    struct partition at = { .space = queue_account_space(d->input->account), .key = BYTES("") };
    struct queue_state *state = arena_alloc(d->arena, sizeof *state);
    struct decision_part *owner;
    enum error e;

    state->base.resource = d->input->resource;
    d->state = &state->base;
    if (d->level != LEVEL_QUEUES)
        at.key = requested->queue;
    if (d->level >= LEVEL_MESSAGES && !requested->all_messages) {
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

/* Returns the queue's stored access policies. */
enum error queue_permit_facts(struct decision *d, struct permit_facts *ret_facts)
{
    if (decision_rests_on_policy(d) &&
        !policies_decode(queue_state(d)->queue.policies, &ret_facts->policies))
        return decision_fail_store(d, STORE_CORRUPT);
    return OK;
}
