/* See small_record.h. */
#include "service/small_record.h"

#include "base/clock.h"
#include "base/codec.h"
#include "base/endian.h"
#include "base/log.h"

#include <assert.h>

#define NOTE_VERSION 1

enum store_result record_is_unknown(const char *what, struct bytes value)
{
    log_line(LOG_ERROR, "%s has an unrecognized format (%zu bytes)", what, value.len);
    return STORE_CORRUPT;
}

enum store_result small_record_read(struct read_view *before, struct arena *arena, struct bytes key,
                                    const char *what, uint64_t *ret_numbers, size_t count)
{
    struct record record;
    struct decoder in;
    enum store_result result = read_view_get(before, RECORD_INNER, key, arena, &record);

    memset(ret_numbers, 0, count * sizeof ret_numbers[0]);
    if (result)
        return result;
    decoder_init(&in, record.value);
    if (decode_u8(&in) != NOTE_VERSION)
        return record_is_unknown(what, record.value);
    for (size_t i = 0; i < count; i++)
        ret_numbers[i] = decode_u64(&in);
    if (decoder_ok(&in))
        return STORE_OK;
    memset(ret_numbers, 0, count * sizeof ret_numbers[0]);
    return record_is_unknown(what, record.value);
}

void small_record_write(struct changes *changes, struct arena *arena, struct bytes key,
                        const uint64_t *numbers, size_t count)
{
    struct text out;

    text_init(&out, arena, 1 + count * VARINT_BYTES_MAX);
    encode_u8(&out, NOTE_VERSION);
    for (size_t i = 0; i < count; i++)
        encode_u64(&out, numbers[i]);
    assert(out.len <= 1 + count * VARINT_BYTES_MAX);
    changes_put(changes, RECORD_INNER, key, text_bytes(&out), NULL, 0);
}

/* ---- recent deletion ---- */

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
