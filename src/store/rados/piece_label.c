#include "store/rados/piece_label.h"

#include "base/endian.h"
#include "store/rados/shard_rows.h"

#define VERSION 1
#define HEAD    (1 + 1 + 4 + 16)

struct bytes piece_label_write(struct arena *arena, const struct piece_label *label)
{
    struct text out;
    char head[HEAD];

    head[0] = VERSION;
    head[1] = (char)label->state;
    be32_put(head + 2, label->length);
    memcpy(head + 6, label->owner.space.b, sizeof label->owner.space.b);
    text_init(&out, arena, HEAD + label->owner.key.len);
    text_add(&out, bytes_of(head, sizeof head));
    text_add(&out, label->owner.key);
    return row_value_write(arena, text_bytes(&out));
}

bool piece_label_read(struct bytes row, struct piece_label *ret_label)
{
    struct bytes value;

    if (row.len == 0 || !row_value_read(row, &value) || value.len < HEAD ||
        value.ptr[0] != VERSION ||
        (value.ptr[1] != PIECE_STAGED && value.ptr[1] != PIECE_LEFT_OVER))
        return false;
    *ret_label = (struct piece_label){
        .state = (enum piece_state)value.ptr[1],
        .length = be32_get(value.ptr + 2),
        .owner = { .key = bytes_from(value, HEAD) },
    };
    memcpy(ret_label->owner.space.b, value.ptr + 6, sizeof ret_label->owner.space.b);
    return true;
}
