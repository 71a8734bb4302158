/* The task that deletes an expired file: see expiry.h. */
#include "base/endian.h"
#include "blob/container_root.h"
#include "blob/expiry.h"
#include "blob/immutability.h"
#include "blob/path_operations.h"

/* When a task tries again to delete a file that its container retains. */
#define RETAINED_TICKS (3600 * TICKS_PER_SECOND)

static enum store_result is_retained(struct decision *d, const struct blob *blob,
                                     bool *ret_retained)
{
    struct container_immutability protection;
    enum store_result result = container_protection_guard(d, &protection);

    *ret_retained = !result && container_retains(&protection, blob, d->now);
    return result;
}

/* The record may have changed since the task was added, because a restored record does not have the
 * id of its restored task. */
enum store_result expire_file_task(struct decision *d, const struct deferred_task *task,
                                   const struct endpoint *endpoint)
{
    bool is_kept = false;
    struct blob blob;
    enum store_result result = blob_read_kept(d->before, d->arena, blob_base, &blob);

    (void)endpoint;
    if (result)
        return result;
    if (task->payload.len != 8 || blob.expiry.at != be64_get(task->payload.ptr))
        return STORE_OK;
    result = is_retained(d, &blob, &is_kept);
    if (result)
        return result;
    if (blob_has_expired(&blob, d->now) && !is_kept)
        return blob_delete_in_task(d);
    /* retained, or the clock was moved back */
    changes_defer(d->changes, is_kept ? d->now + RETAINED_TICKS : blob.expiry.at, TASK_EXPIRE_FILE,
                  task->payload);
    return STORE_OK;
}
