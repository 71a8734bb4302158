/* The record of a pending copy: see pending_copy.h. */
#include "blob/pending_copy.h"

#define VERSION 1

static const struct bytes key = BYTES("Y");

enum store_result pending_copy_read(struct snapshot *before, struct arena *arena,
                                    struct pending_copy *ret_pending)
{
    struct pending_copy pending = { .previous = 0 };
    struct record record;
    struct decoder in;
    struct bytes target;
    enum store_result result = snapshot_get(before, RECORD_INNER, key, arena, &record);

    if (result)
        return result;
    decoder_init(&in, record.value);
    if (decode_u8(&in) != VERSION)
        return STORE_CORRUPT;
    pending_source_decode(&in, &pending.source);
    target = decode_bytes(&in);
    pending.previous = decode_u64(&in);
    if (!decoder_ok(&in) || !blob_decode(target, &pending.target))
        return STORE_CORRUPT;
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
    encode_u8(&out, VERSION);
    pending_source_encode(&out, &pending->source);
    encode_bytes(&out, text_bytes(&target));
    encode_u64(&out, pending->previous);
    changes_put(changes, RECORD_INNER, key, text_bytes(&out), NULL, 0);
}

void pending_copy_delete(struct changes *changes)
{
    changes_delete(changes, RECORD_INNER, key);
}

void copy_defer(struct decision *d, const struct pending_copy *pending)
{
    pending_copy_write(d->changes, d->arena, pending);
    changes_defer(d->changes, d->now, TASK_COPY_BLOB,
                  bytes_of(pending->source.id.b, sizeof pending->source.id.b));
}
