#include "store/rados/limb.h"

#include "base/codec.h"

#define LIMB_VERSION 1

/* Both rows begin with the version and a space. */
static void begin_write(struct text *out, struct arena *arena, const struct guid *space, size_t key)
{
    text_init(out, arena, 32 + key);
    encode_u8(out, LIMB_VERSION);
    encode_fixed(out, space->b, sizeof space->b);
}

static bool begin_read(struct decoder *from, struct bytes row, struct guid *ret_space)
{
    struct bytes value;

    if (!row_value_read(row, &value))
        return false;
    decoder_init(from, value);
    if (decode_u8(from) != LIMB_VERSION)
        return false;
    decode_fixed(from, ret_space->b, sizeof ret_space->b);
    return true;
}

struct bytes limb_row_write(struct arena *arena, const struct limb_row *limb)
{
    struct text out;

    begin_write(&out, arena, &limb->space, limb->lo.len);
    encode_long(&out, limb->version);
    encode_bytes(&out, limb->lo);
    return row_value_write(arena, text_bytes(&out));
}

bool limb_row_read(struct bytes row, struct limb_row *ret_limb)
{
    struct limb_row limb;
    struct decoder from;

    if (!begin_read(&from, row, &limb.space))
        return false;
    limb.version = decode_long(&from);
    limb.lo = decode_bytes(&from);
    if (!decoder_ok(&from) || limb.version == 0 || space_lanes(&limb.space) != 1)
        return false;
    *ret_limb = limb;
    return true;
}

struct bytes limb_home_write(struct arena *arena, const struct partition *home)
{
    struct text out;

    begin_write(&out, arena, &home->space, home->key.len);
    encode_bytes(&out, home->key);
    return row_value_write(arena, text_bytes(&out));
}

bool limb_home_read(struct bytes row, struct partition *ret_home)
{
    struct partition home;
    struct decoder from;

    if (!begin_read(&from, row, &home.space))
        return false;
    home.key = decode_bytes(&from);
    if (!decoder_ok(&from))
        return false;
    *ret_home = home;
    return true;
}
