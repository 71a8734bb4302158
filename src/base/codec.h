/* The codec of record values. A value consists of a version byte and then fields in the order in
 * which its owner wrote them. Integers are varints (LEB128), bytes are length + bytes, fixed arrays
 * are raw. A newer program reads older data: the owner checks the version first. The decoder trusts
 * nothing: a truncated or overlong value marks it `bad`, all later reads return zeros, and the
 * owner checks decoder_ok() once at the end. */
#ifndef LAGRA_BASE_CODEC_H
#define LAGRA_BASE_CODEC_H

#include "base/arena.h"
#include "base/endian.h"

/* Encoders append to a struct text. */
void encode_u8(struct text *out, uint8_t value);
void encode_u64(struct text *out, uint64_t value); /* varint */
/* Encodes 8 bytes, for instants and other large integers, whose varints take 9 bytes and are slow
 * to decode. */
void encode_long(struct text *out, uint64_t value);
void encode_fixed(struct text *out, const void *from, size_t size);
/* Keeps absent (NULL ptr) and empty distinct. */
void encode_bytes(struct text *out, struct bytes value);

struct decoder {
    const uint8_t *at;
    const uint8_t *end;
    bool bad;
};
void decoder_init(struct decoder *d, struct bytes value);
uint8_t decode_u8(struct decoder *d);
/* Decodes a varint of any length; call decode_u64() instead. */
uint64_t decode_varint(struct decoder *d);
/* Inline, because most lengths and numbers take one byte. */
static inline uint64_t decode_u64(struct decoder *d)
{
    if (!d->bad && d->at < d->end && *d->at < 0x80)
        return *d->at++;
    return decode_varint(d);
}
/* Decodes a varint of at most 32 bits. */
uint32_t decode_u32(struct decoder *d);
/* Decodes a value of encode_long(). */
static inline uint64_t decode_long(struct decoder *d)
{
    const uint8_t *at = d->at;

    if (d->bad || d->end - at < (ptrdiff_t)sizeof(uint64_t)) {
        d->bad = true;
        return 0;
    }
    d->at += sizeof(uint64_t);
    return be64_get(at);
}
void decode_fixed(struct decoder *d, void *to, size_t size);
struct bytes decode_bytes(struct decoder *d); /* points into the value */
/* Returns true if the entire value was read and it was not too short. */
bool decoder_ok(const struct decoder *d);

/* Writes a varint to a buffer and returns its length. */
#define VARINT_BYTES_MAX 10
size_t varint_put(char to[VARINT_BYTES_MAX], uint64_t value);
/* Removes a varint from the front like RocksDB, dropping bits above the 64th. Returns false if it
 * is truncated. */
bool varint_take(struct bytes *from, uint64_t *ret_value);

#endif
