/* The task that deletes an expired file: see expiry.h. */
#include "base/endian.h"
#include "blob/expiry.h"
#include "blob/path_operations.h"

/* The record may have changed since the task was added, because a restored record does not have the
 * id of its restored task. */
enum store_result expire_file_task(struct decision *d, const struct deferred_task *task,
                                   const struct endpoint *endpoint)
{
    struct blob blob;
    enum store_result result = blob_read_kept(d->before, d->arena, blob_base, &blob);

    (void)endpoint;
    if (result)
        return result;
    if (task->payload.len != 8 || blob.expiry.at != be64_get(task->payload.ptr))
        return STORE_OK;
    if (blob_has_expired(&blob, d->now))
        return blob_delete_in_task(d);
    /* the clock was moved back */
    changes_defer(d->changes, blob.expiry.at, TASK_EXPIRE_FILE, task->payload);
    return STORE_OK;
}
