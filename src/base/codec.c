/* The codec of record values: varints, lengths, and a bounds-checked reader. */
#include "base/codec.h"

#include <assert.h>

size_t varint_put(char to[VARINT_BYTES_MAX], uint64_t value)
{
    size_t len = 0;

    for (; value >= 0x80; value >>= 7)
        to[len++] = (char)(value | 0x80);
    to[len++] = (char)value;
    return len;
}

bool varint_take(struct bytes *from, uint64_t *ret_value)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64 && from->len > 0; shift += 7) {
        unsigned char c = (unsigned char)*from->ptr;

        *from = bytes_from(*from, 1);
        value |= (uint64_t)(c & 0x7F) << shift;
        if (c < 0x80) {
            *ret_value = value;
            return true;
        }
    }
    return false;
}

void encode_u8(struct text *out, uint8_t value)
{
    text_add_char(out, (char)value);
}

void encode_u64(struct text *out, uint64_t value)
{
    text_reserve(out, VARINT_BYTES_MAX);
    out->len += varint_put(out->ptr + out->len, value);
}

void encode_long(struct text *out, uint64_t value)
{
    char be[sizeof value];

    be64_put(be, value);
    text_add(out, bytes_of(be, sizeof be));
}

void encode_fixed(struct text *out, const void *from, size_t size)
{
    text_add(out, bytes_of(from, size));
}

/* Encodes 0 if absent, else length + 1. */
void encode_bytes(struct text *out, struct bytes value)
{
    if (!value.ptr) {
        encode_u64(out, 0);
        return;
    }
    encode_u64(out, (uint64_t)value.len + 1);
    text_add(out, value);
}

void decoder_init(struct decoder *d, struct bytes value)
{
    static const uint8_t nothing[1];

    d->at = value.ptr ? (const uint8_t *)value.ptr : nothing;
    d->end = d->at + value.len;
    d->bad = false;
}

/* Returns the next `size` bytes, or NULL after marking the decoder as bad. */
static const uint8_t *take(struct decoder *d, uint64_t size)
{
    const uint8_t *taken = d->at;

    if (d->bad || size > (uint64_t)(d->end - d->at)) {
        d->bad = true;
        return NULL;
    }
    d->at += size;
    return taken;
}

uint8_t decode_u8(struct decoder *d)
{
    const uint8_t *byte = take(d, 1);

    return byte ? *byte : 0;
}

/* The continuation bit of each of eight bytes. */
#define CONTINUED 0x8080808080808080u

/* Packs the low seven bits of eight bytes into adjacent bits. */
static uint64_t pack(uint64_t bytes)
{
    bytes &= ~CONTINUED;
    bytes = (bytes & 0x007F007F007F007F) | (bytes & 0x7F007F007F007F00) >> 1;
    bytes = (bytes & 0x00003FFF00003FFF) | (bytes & 0x3FFF00003FFF0000) >> 2;
    return (bytes & 0x0FFFFFFF) | (bytes & 0x0FFFFFFF00000000) >> 4;
}

/* Decodes the first eight bytes at once, because instants and ETags take nine. */
uint64_t decode_varint(struct decoder *d)
{
    const uint8_t *at = d->at, *end = d->bad ? d->at : d->end;
    uint64_t value = 0;
    unsigned shift = 0;

    if (end - at >= 8 && (le64_get(at) & CONTINUED) == CONTINUED) {
        value = pack(le64_get(at));
        at += 8;
        shift = 56;
    }
    for (; shift < 64 && at < end; shift += 7) {
        uint8_t byte = *at++;

        value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte >= 0x80)
            continue;
        if ((byte == 0 && shift > 0) || (byte > 1 && shift == 63))
            break; /* not minimal, so not written by us; or more than 64 bits */
        d->at = at;
        return value;
    }
    d->bad = true;
    return 0;
}

uint32_t decode_u32(struct decoder *d)
{
    uint64_t value = decode_u64(d);

    if (value > UINT32_MAX)
        d->bad = true;
    return (uint32_t)value;
}

void decode_fixed(struct decoder *d, void *to, size_t size)
{
    const uint8_t *from = take(d, size);

    if (size == 0)
        return;
    if (from)
        memcpy(to, from, size);
    else
        memset(to, 0, size);
}

struct bytes decode_bytes(struct decoder *d)
{
    uint64_t stored = decode_u64(d);
    const uint8_t *from;

    if (d->bad || stored == 0)
        return bytes_of(NULL, 0);
    from = take(d, stored - 1);
    return from ? bytes_of(from, (size_t)(stored - 1)) : bytes_of(NULL, 0);
}

bool decoder_ok(const struct decoder *d)
{
    return !d->bad && d->at == d->end;
}
