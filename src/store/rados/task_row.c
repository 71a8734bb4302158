#include "store/rados/task_row.h"

#include "base/codec.h"

#define TASK_ROW_VERSION 1

struct bytes task_row_write(struct arena *arena, const struct task_row *row)
{
    struct text out;

    text_init(&out, arena, 32 + row->payload.len + row->partition_key.len);
    encode_u8(&out, TASK_ROW_VERSION);
    encode_u64(&out, row->kind);
    encode_bytes(&out, row->payload);
    encode_bytes(&out, row->partition_key);
    return text_bytes(&out);
}

bool task_row_read(struct bytes value, struct task_row *ret_row)
{
    struct decoder from;
    struct task_row row;

    decoder_init(&from, value);
    if (decode_u8(&from) != TASK_ROW_VERSION)
        return false;
    row.kind = (uint32_t)decode_u64(&from);
    row.payload = decode_bytes(&from);
    row.partition_key = decode_bytes(&from);
    if (!decoder_ok(&from))
        return false;
    *ret_row = row;
    return true;
}

struct bytes decided_write(struct arena *arena, const struct partition *others, size_t count)
{
    struct text out;

    text_init(&out, arena, 0);
    encode_u8(&out, TASK_ROW_VERSION);
    for (size_t i = 0; i < count; i++) {
        encode_fixed(&out, others[i].space.b, sizeof others[i].space.b);
        encode_bytes(&out, others[i].key);
    }
    return text_bytes(&out);
}

bool decided_read(struct bytes value, struct arena *arena, struct partition **ret_others,
                  size_t *ret_count)
{
    size_t count = 0, least = sizeof ret_others[0]->space.b + 1;
    struct partition *others = arena_array(arena, value.len / least + 1, sizeof others[0]);
    struct decoder from;

    decoder_init(&from, value);
    if (decode_u8(&from) != TASK_ROW_VERSION)
        return false;
    while (!from.bad && from.at < from.end) {
        decode_fixed(&from, others[count].space.b, sizeof others[count].space.b);
        others[count++].key = decode_bytes(&from);
    }
    *ret_others = others;
    *ret_count = count;
    return decoder_ok(&from);
}

struct bytes attempt_write(struct arena *arena, struct attempt attempt)
{
    char raw[ATTEMPT_SIZE];

    attempt_put(raw, attempt);
    return arena_copy(arena, bytes_of(raw, sizeof raw));
}

bool attempt_read(struct bytes value, struct attempt *ret_attempt)
{
    if (value.len != ATTEMPT_SIZE)
        return false;
    *ret_attempt = attempt_get(value.ptr);
    return true;
}
