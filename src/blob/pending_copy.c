/* See pending_copy.h. */
#include "blob/pending_copy.h"

#include "service/small_record.h"

enum store_result pending_copy_read(struct read_view *before, struct arena *arena,
                                    struct pending_copy *ret_pending)
{
    struct pending_copy pending = { .previous = 0 };
    struct decoder rest;
    struct bytes target;
    enum store_result result = pending_record_read(before, arena, &pending.source, &target, &rest);

    if (result)
        return result;
    pending.previous = decode_u64(&rest);
    pending.account = rest.at < rest.end ? decode_bytes(&rest) : pending.source.account;
    if (!decoder_ok(&rest) || !blob_decode(target, &pending.target))
        return record_is_unknown("the destination in the record of a pending copy", target);
    *ret_pending = pending;
    return STORE_OK;
}

void pending_copy_write(struct changes *changes, struct arena *arena,
                        const struct pending_copy *pending)
{
    struct text out, target;

    text_init(&out, arena, 512);
    text_init(&target, arena, 256);
    blob_encode(&target, &pending->target);
    pending_record_begin(&out, &pending->source, text_bytes(&target));
    encode_u64(&out, pending->previous);
    if (!bytes_equal(pending->account, pending->source.account))
        encode_bytes(&out, pending->account);
    changes_put(changes, RECORD_INNER, pending_record_key, text_bytes(&out), NULL, 0);
}

void pending_copy_delete(struct changes *changes)
{
    changes_delete(changes, RECORD_INNER, pending_record_key);
}

void copy_defer(struct decision *d, struct pending_copy *pending)
{
    pending->source.begun = d->now;
    pending_copy_write(d->changes, d->arena, pending);
    changes_defer(d->changes, d->now, TASK_COPY_BLOB,
                  bytes_of(pending->source.id.b, sizeof pending->source.id.b));
}
