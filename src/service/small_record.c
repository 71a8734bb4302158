/* See small_record.h. */
#include "service/small_record.h"

#include <assert.h>

#include "base/codec.h"
#include "base/log.h"

#define NOTE_VERSION 1

enum store_result record_is_unknown(const char *what, struct bytes value)
{
    log_line(LOG_ERROR, "%s has an unknown form (%zu bytes)", what, value.len);
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
