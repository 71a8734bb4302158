/* The task that deletes an expired file: see expiry.h. */
#include "base/endian.h"
#include "blob/container_root.h"
#include "blob/expiry.h"
#include "blob/immutability.h"
#include "blob/path_operations.h"

/* When a task tries again to delete a file that its container retains. */
#define RETAINED_TICKS (3600 * TICKS_PER_SECOND)

/* Determines whether a container with this root directory retains the file. The part remains open,
 * as a guard. */
static enum store_result is_retained_in(struct decision *d, const struct guid *root,
                                        const struct blob *blob, bool *ret_retained)
{
    struct container_immutability protection;
    struct decision_part *part =
        decision_open(d, container_protection_partition(d->arena, d->partition.space, root), NULL);
    enum store_result result = container_protection_read(part->before, d->arena, &protection);

    decision_keep_above(d);
    *ret_retained = !result && container_retains(&protection, blob, d->now);
    return result;
}

/* Determines whether the container retains the file. If its root directory is the root of the tree,
 * the name that was found is that of another directory, and there is no protection under it. */
static enum store_result is_retained(struct decision *d, const struct blob *blob,
                                     bool *ret_retained)
{
    const struct guid none = { .b = { 0 } };
    struct guid root;
    enum store_result result = container_root_above(d, &root);

    *ret_retained = false;
    if (!result && !guid_is_zero(&root))
        result = is_retained_in(d, &root, blob, ret_retained);
    return result || *ret_retained ? result : is_retained_in(d, &none, blob, ret_retained);
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
