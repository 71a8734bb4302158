/* The low-water mark: see front.h. */
#include "queue/front.h"

#include "base/codec.h"
#include "base/log.h"

#define RECORD_VERSION 1

static const struct bytes record_key = BYTES("w");

enum store_result front_read(struct snapshot *before, struct arena *arena, struct front *ret_front)
{
    struct front front = { .mark = 0 };
    struct record record;
    struct decoder in;
    enum store_result result = snapshot_get(before, RECORD_INNER, record_key, arena, &record);

    *ret_front = front;
    if (result)
        return result == STORE_NOT_FOUND ? STORE_OK : result;
    decoder_init(&in, record.value);
    if (decode_u8(&in) == RECORD_VERSION) {
        front.mark = decode_u64(&in);
        front.busy_until = decode_u64(&in);
        front.written = decode_u64(&in);
        *ret_front = front;
        if (decoder_ok(&in))
            return STORE_OK;
    }
    log_line(LOG_ERROR, "a queue's low-water mark has an unknown form (%zu bytes)",
             record.value.len);
    return STORE_CORRUPT;
}

static void write_front(struct decision *d, const struct front *front)
{
    struct text out;

    text_init(&out, d->arena, 32);
    encode_u8(&out, RECORD_VERSION);
    encode_u64(&out, front->mark);
    encode_u64(&out, front->busy_until);
    encode_u64(&out, front->written);
    changes_put(d->changes, RECORD_INNER, record_key, text_bytes(&out), NULL, 0);
}

void front_advance(struct decision *d, const struct front *front, instant mark)
{
    struct front moved = { .mark = mark,
                           .busy_until = message_now(d) + FRONT_BUSY_S * TICKS_PER_SECOND };

    if (mark > front->mark && d->now % FRONT_EVERY == 0)
        write_front(d, &moved);
}

void front_note_empty(struct decision *d, const struct front *front)
{
    instant now = message_now(d), changed = clock_without_steps(snapshot_instant(d->before));
    struct front moved = { .mark = now, .busy_until = front->busy_until, .written = now };

    if (changed > front->written)
        moved.busy_until = changed + FRONT_BUSY_S * TICKS_PER_SECOND;
    if (now >= front->mark + FRONT_IDLE_S * TICKS_PER_SECOND && front->mark < moved.busy_until)
        write_front(d, &moved);
}
