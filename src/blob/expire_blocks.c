/* See uncommitted.h. */
#include "blob/uncommitted.h"

#include "base/endian.h"
#include "blob/snapshot_changes.h"

void expire_blocks_defer(struct changes *changes, struct uncommitted *total)
{
    char set[8];

    be64_put(set, total->set);
    total->task_due = blocks_expire_at(total->last_put);
    total->task =
        changes_defer(changes, total->task_due, TASK_EXPIRE_BLOCKS, bytes_of(set, sizeof set));
}

static bool is_of_set(struct bytes payload, uint64_t set)
{
    return payload.len == 8 && be64_get(payload.ptr) == set;
}

/* Deletes the blocks, and the blob if it had nothing else. */
static enum store_result expire(struct decision *d, struct blob *blob,
                                const struct uncommitted *total)
{
    const struct blob was = *blob;
    bool more = false;
    enum store_result result =
        uncommitted_drop(d->before, d->changes, d->arena, total, NULL, &more);

    if (result)
        return result;
    if (blob->uncommitted) {
        result = base_remove(d, blob, false);
        if (result)
            return result;
    } else {
        blob->nothing_staged = true;
        blob_change(d, &was, blob);
    }
    if (more)
        decision_defer_collection(d);
    return STORE_OK;
}

enum store_result expire_blocks(struct decision *d, const struct deferred_task *task,
                                const struct endpoint *endpoint)
{
    struct uncommitted total;
    struct blob blob;
    enum store_result result = blob_read(d->before, d->arena, blob_base, &blob);

    (void)endpoint;
    if (result == STORE_NOT_FOUND || (!result && blob.nothing_staged))
        return STORE_OK;
    if (!result)
        result = uncommitted_read(d->before, d->arena, &total);
    if (result || total.count == 0 || !is_of_set(task->payload, total.set))
        return result;
    if (!blocks_expired(total.last_put, d->now)) {
        expire_blocks_defer(d->changes, &total);
        uncommitted_write(d->changes, d->arena, &total);
        return STORE_OK;
    }
    return expire(d, &blob, &total);
}
