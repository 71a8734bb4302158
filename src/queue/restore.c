/* Restores queues from a backup: service/restore.h. */
#include "queue/restore.h"

#include "queue/queue.h"
#include "service/names.h"

static bool is_owner(struct bytes key)
{
    return bytes_is(key, "q");
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
