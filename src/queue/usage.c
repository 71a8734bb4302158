/* Contents of a queue, for operators: service/usage.h. */
#include "queue/usage.h"

#include "queue/queue.h"

static bool is_queue(const struct space_record *record, struct guid *ret_space,
                     uint64_t *ret_quota_bytes)
{
    struct queue queue;

    (void)ret_quota_bytes;
    if (!bytes_is(record->record_key, "q") || !queue_decode(record->value, &queue))
        return false;
    *ret_space = queue.space;
    return true;
}

/* Message bodies: queue/message.h. */
const struct usage_functions queue_usage = { .container = is_queue, .inner_prefix = "m" };
