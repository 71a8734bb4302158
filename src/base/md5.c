/* Computes the MD5 of several streams in SIMD lanes. Uses the vector types of gcc and clang, so
 * that the same code works with every register width. A single stream uses nettle. */
#include "base/md5_private.h"

#include <assert.h>
#include <endian.h>
#include <nettle/md5.h>
#include <string.h>

typedef uint32_t words __attribute__((vector_size(4 * MD5_LANES))); /* one word per lane */

/* rfc: 1321 3.4, the table T: the integer part of 2^32 * |sin(i + 1)| */
static const uint32_t sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};

/* The functions F, G, H, I of rfc: 1321 3.4, arranged so that few operations depend on x, the
 * newest value. */
#define F(x, y, z) ((z) ^ ((x) & ((y) ^ (z))))
#define G(x, y, z) (((y) & ~(z)) + ((x) & (z)))
#define H(x, y, z) ((x) ^ ((y) ^ (z)))
#define I(x, y, z) ((y) ^ ((x) | ~(z)))

#define STEP(f, a, b, c, d, word, shift, i)                                                        \
    do {                                                                                           \
        a = (a + (word) + sines[i]) + f(b, c, d);                                                  \
        a = (a << (shift) | a >> (32 - (shift))) + b;                                              \
    } while (0)

/* Sixteen steps that update a, d, c, b in turn; step i uses the word (i * by + from) % 16. */
#define STEPS(f, by, from, s1, s2, s3, s4)                                                         \
    for (unsigned end = i + 16; i < end; i += 4) {                                                 \
        STEP(f, a, b, c, d, x[((i + 0) * (by) + (from)) % 16], s1, i + 0);                         \
        STEP(f, d, a, b, c, x[((i + 1) * (by) + (from)) % 16], s2, i + 1);                         \
        STEP(f, c, d, a, b, x[((i + 2) * (by) + (from)) % 16], s3, i + 2);                         \
        STEP(f, b, c, d, a, x[((i + 3) * (by) + (from)) % 16], s4, i + 3);                         \
    }

static inline uint32_t load32(const uint8_t *at)
{
    uint32_t word;

    memcpy(&word, at, sizeof word);
    return le32toh(word);
}

/* Hashes `blocks` blocks of each lane. Compiled once per kind of CPU, below. */
static inline __attribute__((always_inline)) void hash_lanes(uint32_t *const states[MD5_LANES],
                                                             const uint8_t *const data[MD5_LANES],
                                                             size_t blocks)
{
    words state[4], x[16];

    for (size_t i = 0; i < 4; i++)
        for (size_t lane = 0; lane < MD5_LANES; lane++)
            state[i][lane] = states[lane][i];
    for (size_t at = 0; at < blocks * MD5_BLOCK_BYTES; at += MD5_BLOCK_BYTES) {
        words a = state[0], b = state[1], c = state[2], d = state[3];
        unsigned i = 0;

        for (size_t w = 0; w < 16; w++) {
            size_t o = at + 4 * w;

            x[w] = (words){ load32(data[0] + o), load32(data[1] + o), load32(data[2] + o),
                            load32(data[3] + o), load32(data[4] + o), load32(data[5] + o),
                            load32(data[6] + o), load32(data[7] + o) };
        }
        STEPS(F, 1, 0, 7, 12, 17, 22)
        STEPS(G, 5, 1, 5, 9, 14, 20)
        STEPS(H, 3, 5, 4, 11, 16, 23)
        STEPS(I, 7, 0, 6, 10, 15, 21)
        state[0] += a;
        state[1] += b;
        state[2] += c;
        state[3] += d;
    }
    for (size_t i = 0; i < 4; i++)
        for (size_t lane = 0; lane < MD5_LANES; lane++)
            states[lane][i] = state[i][lane];
}

void md5_lanes_portable(uint32_t *const states[MD5_LANES], const uint8_t *const data[MD5_LANES],
                        size_t blocks)
{
    hash_lanes(states, data, blocks);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void md5_lanes_avx2(uint32_t *const states[MD5_LANES],
                                                    const uint8_t *const data[MD5_LANES],
                                                    size_t blocks)
{
    hash_lanes(states, data, blocks);
}
#endif

md5_lanes_fn *md5_lanes(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        return md5_lanes_avx2;
#endif
    return md5_lanes_portable;
}

/* Unused lanes hash the first stream again into a discarded state. */
static void hash_streams(uint32_t *const states[], const uint8_t *const data[], size_t count,
                         size_t blocks)
{
    uint32_t *lane_states[MD5_LANES];
    const uint8_t *lane_data[MD5_LANES];
    uint32_t unused[4] = { 0 };

    if (count == 1) {
        for (size_t i = 0; i < blocks; i++)
            nettle_md5_compress(states[0], data[0] + i * MD5_BLOCK_BYTES);
        return;
    }
    for (size_t lane = 0; lane < MD5_LANES; lane++) {
        lane_states[lane] = lane < count ? states[lane] : unused;
        lane_data[lane] = data[lane < count ? lane : 0];
    }
    md5_lanes()(lane_states, lane_data, blocks);
}

void md5_stream_init(struct md5_stream *stream)
{
    *stream = (struct md5_stream){ .state = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476 } };
}

/* Completes the partial block; returns the remaining data. */
static struct bytes fill_partial(struct md5_stream *stream, struct bytes data)
{
    size_t begun = stream->length % MD5_BLOCK_BYTES;
    size_t more = begun > 0 ? MD5_BLOCK_BYTES - begun : 0;

    if (more > data.len)
        more = data.len;
    stream->length += data.len;
    if (more == 0)
        return data;
    memcpy(stream->partial + begun, data.ptr, more);
    if (begun + more == MD5_BLOCK_BYTES)
        nettle_md5_compress(stream->state, stream->partial);
    return bytes_from(data, more);
}

/* Hashes as many blocks of each stream as the shortest one has, among the streams with at least
 * one block. Returns false if none exist. */
static bool hash_common(struct md5_stream *const streams[], struct bytes rest[], size_t count)
{
    uint32_t *states[MD5_LANES];
    const uint8_t *data[MD5_LANES];
    size_t blocks = SIZE_MAX;
    size_t busy = 0;

    for (size_t i = 0; i < count; i++) {
        if (rest[i].len < MD5_BLOCK_BYTES)
            continue;
        states[busy] = streams[i]->state;
        data[busy] = (const uint8_t *)rest[i].ptr;
        busy++;
        if (rest[i].len / MD5_BLOCK_BYTES < blocks)
            blocks = rest[i].len / MD5_BLOCK_BYTES;
    }
    if (busy == 0)
        return false;
    hash_streams(states, data, busy, blocks);
    for (size_t i = 0; i < count; i++)
        if (rest[i].len >= MD5_BLOCK_BYTES)
            rest[i] = bytes_from(rest[i], blocks * MD5_BLOCK_BYTES);
    return true;
}

static void update_lanes(struct md5_stream *const streams[], const struct bytes data[],
                         size_t count)
{
    struct bytes rest[MD5_LANES];

    for (size_t i = 0; i < count; i++)
        rest[i] = fill_partial(streams[i], data[i]);
    while (hash_common(streams, rest, count))
        continue;
    for (size_t i = 0; i < count; i++)
        if (rest[i].len > 0)
            memcpy(streams[i]->partial, rest[i].ptr, rest[i].len);
}

void md5_update_many(struct md5_stream *const streams[], const struct bytes data[], size_t count)
{
    for (size_t first = 0; first < count; first += MD5_LANES) {
        size_t lanes = count - first < MD5_LANES ? count - first : MD5_LANES;

        update_lanes(streams + first, data + first, lanes);
    }
}

/* Padding after the data: a set bit, zeros, and the length in bits, up to the end of a block.
 * rfc: 1321 3.1, 3.2 */
struct padding {
    char bytes[MD5_BLOCK_BYTES + 9];
};

static struct bytes make_padding(const struct md5_stream *stream, struct padding *padding)
{
    uint64_t bits = htole64(stream->length * 8);
    size_t begun = stream->length % MD5_BLOCK_BYTES;
    size_t zeros = (MD5_BLOCK_BYTES + 55 - begun) % MD5_BLOCK_BYTES;

    *padding = (struct padding){ .bytes = { (char)0x80 } };
    memcpy(padding->bytes + 1 + zeros, &bits, sizeof bits);
    return bytes_of(padding->bytes, 1 + zeros + sizeof bits);
}

static void write_digest(const struct md5_stream *stream, uint8_t ret_digest[MD5_SIZE])
{
    for (size_t i = 0; i < 4; i++) {
        uint32_t word = htole32(stream->state[i]);

        memcpy(ret_digest + 4 * i, &word, sizeof word);
    }
}

void md5_stream_digest(struct md5_stream *stream, uint8_t ret_digest[MD5_SIZE])
{
    struct padding padding;
    struct bytes end = make_padding(stream, &padding);

    md5_update_many(&stream, &end, 1);
    write_digest(stream, ret_digest);
}

void md5_of(struct bytes data, uint8_t ret_digest[MD5_SIZE])
{
    md5_of_many(&data, 1, &ret_digest);
}

void md5_of_many(const struct bytes data[], size_t count, uint8_t *const ret_digests[])
{
    struct md5_stream of[MD5_LANES], *streams[MD5_LANES];
    struct padding paddings[MD5_LANES];
    struct bytes ends[MD5_LANES];

    assert(count > 0 && count <= MD5_LANES);
    for (size_t i = 0; i < MD5_LANES; i++)
        streams[i] = &of[i];
    for (size_t i = 0; i < count; i++)
        md5_stream_init(&of[i]);
    md5_update_many(streams, data, count);
    for (size_t i = 0; i < count; i++)
        ends[i] = make_padding(&of[i], &paddings[i]);
    md5_update_many(streams, ends, count);
    for (size_t i = 0; i < count; i++)
        write_digest(&of[i], ret_digests[i]);
}
