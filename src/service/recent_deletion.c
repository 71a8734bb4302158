/* Writes, reads and deletes records of deletions; see recent_deletion.h. */
#include "service/recent_deletion.h"

#include "base/clock.h"
#include "base/endian.h"
#include "service/small_record.h"

/* The name is unavailable "for at least 30 seconds" after the deletion. rest: Delete-Container,
 * "Remarks" */
#define RECENT_S 30u

static const struct bytes record_key = BYTES("d");

void recent_deletion_write(struct changes *changes, struct arena *arena, instant now)
{
    char payload[8];

    small_record_write(changes, arena, record_key, &now, 1);
    be64_put(payload, now);
    changes_defer(changes, now + RECENT_S * TICKS_PER_SECOND, TASK_FORGET_DELETION,
                  bytes_of(payload, sizeof payload));
}

static enum store_result read_deletion(struct read_view *before, struct arena *arena,
                                       instant *ret_deleted)
{
    return small_record_read(before, arena, record_key, "the record of a recent deletion",
                             ret_deleted, 1);
}

enum store_result recent_deletion_find(struct read_view *before, struct arena *arena, instant now)
{
    instant deleted;
    enum store_result result = read_deletion(before, arena, &deleted);

    if (!result && now >= deleted + RECENT_S * TICKS_PER_SECOND)
        return STORE_NOT_FOUND;
    return result;
}

enum store_result recent_deletion_forget(struct decision *d, const struct deferred_task *task,
                                         const struct endpoint *endpoint)
{
    struct bytes payload = task->payload;
    instant deleted;
    enum store_result result = read_deletion(d->before, d->arena, &deleted);

    (void)endpoint;
    if (result == STORE_NOT_FOUND)
        return STORE_OK;
    if (!result && payload.len == 8 && be64_get(payload.ptr) == deleted)
        changes_delete(d->changes, RECORD_INNER, record_key);
    return result;
}
