/* The item of a set of uncommitted blocks: added, and done. */
#include "blob/expire_blocks.h"

#include "base/endian.h"
#include "blob/blob.h"

void expire_blocks_later(struct changes *changes, struct uncommitted *total)
{
    char set[8];

    be64_put(set, total->set);
    total->item_due = blocks_expire_at(total->last_put);
    total->item =
        changes_later(changes, total->item_due, LATER_EXPIRE_BLOCKS, bytes_of(set, sizeof set));
}

static bool is_of_set(struct bytes payload, uint64_t set)
{
    return payload.len == 8 && be64_get(payload.ptr) == set;
}

/* Deletes the blocks; a blob that was nothing but these is gone with them. */
static enum store_result expire(struct later_work *work, struct blob *blob,
                                const struct uncommitted *total)
{
    bool more = false;
    enum store_result result =
        uncommitted_drop(work->before, work->changes, work->arena, total, NULL, &more);

    if (result)
        return result;
    if (blob->uncommitted) {
        blob_delete_record(work->changes, work->arena, 0);
    } else {
        blob->nothing_staged = true;
        blob_write(work->changes, work->arena, blob);
    }
    if (more)
        later_collect_content(work->changes, work->now);
    return STORE_OK;
}

enum store_result expire_blocks(struct later_work *work)
{
    struct uncommitted total;
    struct blob blob;
    enum store_result result = blob_read(work->before, work->arena, 0, &blob);

    if (result == STORE_NOT_FOUND || (!result && blob.nothing_staged))
        return STORE_OK;
    if (!result)
        result = uncommitted_read(work->before, work->arena, &total);
    if (result || total.count == 0 || !is_of_set(work->item->payload, total.set))
        return result;
    if (!blocks_expired(total.last_put, work->now)) {
        expire_blocks_later(work->changes, &total);
        uncommitted_write(work->changes, work->arena, &total);
        return STORE_OK;
    }
    return expire(work, &blob, &total);
}
