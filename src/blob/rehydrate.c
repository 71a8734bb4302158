/* See rehydrate.h. Payload: instant of the snapshot (0: the base), instant it waits for; be64
 * each. */
#include "blob/rehydrate.h"

#include "base/endian.h"

#define PAYLOAD_SIZE 16

void rehydrate_defer(struct changes *changes, const struct blob *blob)
{
    char payload[PAYLOAD_SIZE];

    be64_put(payload, blob->ref.at);
    be64_put(payload + 8, blob->rehydrated_at);
    changes_defer(changes, blob->rehydrated_at, TASK_REHYDRATE, bytes_of(payload, sizeof payload));
}

enum store_result rehydrate_blob(struct decision *d, const struct deferred_task *task,
                                 const struct endpoint *endpoint)
{
    struct bytes payload = task->payload;
    struct blob blob;
    enum store_result result;

    (void)endpoint;
    if (payload.len != PAYLOAD_SIZE)
        return STORE_OK;
    result = blob_read(d->before, d->arena, blob_ref_from_instant(be64_get(payload.ptr)), &blob);
    if (result == STORE_NOT_FOUND)
        return STORE_OK;
    if (result || blob.rehydrates_to == TIER_NONE ||
        blob.rehydrated_at != be64_get(payload.ptr + 8))
        return result;
    blob_set_tier(&blob, blob.rehydrates_to, d->now);
    blob_write(d->changes, d->arena, &blob);
    return STORE_OK;
}
