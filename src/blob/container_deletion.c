/* The note of a deletion: written, read, forgotten. */
#include "blob/container_deletion.h"

#include "base/clock.h"
#include "base/codec.h"
#include "base/endian.h"
#include "base/log.h"

#define RECORD_VERSION 1
/* "For at least 30 seconds" a name is taken by its deletion. rest: Delete-Container, "Remarks" */
#define RECENT_S       30u

static const struct bytes record_key = BYTES("d");

void container_deletion_note(struct changes *changes, struct arena *arena, instant now)
{
    struct text out;
    char payload[8];

    text_init(&out, arena, 16);
    encode_u8(&out, RECORD_VERSION);
    encode_u64(&out, now);
    changes_put(changes, RECORD_INNER, record_key, text_bytes(&out), NULL, 0);
    be64_put(payload, now);
    changes_later(changes, now + RECENT_S * TICKS_PER_SECOND, LATER_FORGET_DELETION,
                  bytes_of(payload, sizeof payload));
}

static enum store_result read_deletion(struct snapshot *before, struct arena *arena,
                                       instant *ret_deleted)
{
    struct record record;
    struct decoder in;
    enum store_result result = snapshot_get(before, RECORD_INNER, record_key, arena, &record);

    if (result)
        return result;
    decoder_init(&in, record.value);
    if (decode_u8(&in) == RECORD_VERSION) {
        *ret_deleted = decode_u64(&in);
        if (decoder_ok(&in))
            return STORE_OK;
    }
    log_line(LOG_ERROR, "the note of a container's deletion has an unknown form (%zu bytes)",
             record.value.len);
    return STORE_CORRUPT;
}

enum store_result container_deletion_is_recent(struct snapshot *before, struct arena *arena,
                                               instant now)
{
    instant deleted;
    enum store_result result = read_deletion(before, arena, &deleted);

    if (!result && now >= deleted + RECENT_S * TICKS_PER_SECOND)
        return STORE_NOT_FOUND;
    return result;
}

enum store_result container_deletion_forget(struct later_work *work)
{
    struct bytes payload = work->item->payload;
    instant deleted;
    enum store_result result = read_deletion(work->before, work->arena, &deleted);

    if (result == STORE_NOT_FOUND)
        return STORE_OK;
    if (!result && payload.len == 8 && be64_get(payload.ptr) == deleted)
        changes_delete(work->changes, RECORD_INNER, record_key);
    return result;
}
