/* CRC-64 as in x-ms-content-crc64. With PCLMULQDQ the data is folded: four parallel remainders of
 * 128 bits are multiplied by x^n mod P to align them with the following data. The final 16 bytes,
 * which have the same CRC as all the data, go through the tables. Without PCLMULQDQ, eight tables
 * process eight bytes a step.
 *
 * The folding constants are computed at start from the polynomial. Bits are reflected: the highest
 * bit of a word is x^0. The carry-less product of two reflected words is reflected in 127 bits, so
 * it is one bit too low; the constants have one power less to compensate. */
#include "base/crc_private.h"

#include <string.h>

#if defined(__x86_64__)
#include <wmmintrin.h>
#endif

#define POLYNOMIAL 0x9A6C9329AC4BC9B5ull /* reflected */

static uint64_t step[8][256];

#if defined(__x86_64__)
/* [0] for the first eight bytes of a block, [1] for the last eight */
static uint64_t fold_by_16[2], fold_by_64[2];

/* Returns x^n mod P, reflected. */
static uint64_t power_of_x(unsigned n)
{
    uint64_t power = 1ull << 63;

    for (; n > 0; n--)
        power = power >> 1 ^ (power & 1 ? POLYNOMIAL : 0);
    return power;
}
#endif

/* Runs before main(), so that threads need not check whether the tables are ready. */
__attribute__((constructor)) static void fill_tables(void)
{
    for (uint64_t i = 0; i < 256; i++) {
        uint64_t crc = i;

        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
        step[0][i] = crc;
    }
    for (size_t t = 1; t < 8; t++)
        for (size_t i = 0; i < 256; i++)
            step[t][i] = step[t - 1][i] >> 8 ^ step[0][step[t - 1][i] & 0xFF];
#if defined(__x86_64__)
    fold_by_16[0] = power_of_x(128 + 64 - 1);
    fold_by_16[1] = power_of_x(128 - 1);
    fold_by_64[0] = power_of_x(512 + 64 - 1);
    fold_by_64[1] = power_of_x(512 - 1);
#endif
}

/* Updates a CRC without the initial and final complement. */
static uint64_t update(uint64_t crc, const uint8_t *at, size_t len)
{
    for (; len >= 8; at += 8, len -= 8) {
        uint64_t word;

        memcpy(&word, at, sizeof word);
        word = le64toh(word) ^ crc;
        crc = step[7][word & 0xFF] ^ step[6][word >> 8 & 0xFF] ^ step[5][word >> 16 & 0xFF] ^
              step[4][word >> 24 & 0xFF] ^ step[3][word >> 32 & 0xFF] ^ step[2][word >> 40 & 0xFF] ^
              step[1][word >> 48 & 0xFF] ^ step[0][word >> 56];
    }
    for (; len > 0; len--)
        crc = crc >> 8 ^ step[0][(crc ^ *at++) & 0xFF];
    return crc;
}

uint64_t crc64_portable(uint64_t crc, const void *data, size_t len)
{
    return ~update(~crc, data, len);
}

#if defined(__x86_64__)

__attribute__((target("pclmul,sse2"))) static inline __m128i load(const uint8_t *at)
{
    return _mm_loadu_si128((const __m128i *)(const void *)at);
}

/* Advances the remainder and adds the data at that position. */
__attribute__((target("pclmul,sse2"))) static inline __m128i fold(__m128i remainder, __m128i by,
                                                                  __m128i data)
{
    __m128i low = _mm_clmulepi64_si128(remainder, by, 0x00);
    __m128i high = _mm_clmulepi64_si128(remainder, by, 0x11);

    return _mm_xor_si128(_mm_xor_si128(low, high), data);
}

__attribute__((target("pclmul,sse2"))) uint64_t crc64_pclmul(uint64_t crc, const void *data,
                                                             size_t len)
{
    const uint8_t *at = data;
    __m128i by, lane[4];
    uint8_t last[16];

    if (len < 64)
        return crc64_portable(crc, data, len);

    for (size_t i = 0; i < 4; i++)
        lane[i] = load(at + 16 * i);
    lane[0] = _mm_xor_si128(lane[0], _mm_cvtsi64_si128((long long)~crc));
    at += 64;
    len -= 64;
    by = load((const uint8_t *)fold_by_64);
    for (; len >= 64; at += 64, len -= 64)
        for (size_t i = 0; i < 4; i++)
            lane[i] = fold(lane[i], by, load(at + 16 * i));

    by = load((const uint8_t *)fold_by_16);
    for (size_t i = 1; i < 4; i++)
        lane[i] = fold(lane[i - 1], by, lane[i]);
    for (; len >= 16; at += 16, len -= 16)
        lane[3] = fold(lane[3], by, load(at));
    _mm_storeu_si128((__m128i *)(void *)last, lane[3]);
    return ~update(update(0, last, sizeof last), at, len);
}

bool crc64_has_pclmul(void)
{
    return __builtin_cpu_supports("pclmul");
}

uint64_t crc64(uint64_t crc, const void *data, size_t len)
{
    return crc64_has_pclmul() ? crc64_pclmul(crc, data, len) : crc64_portable(crc, data, len);
}

#else

uint64_t crc64(uint64_t crc, const void *data, size_t len)
{
    return crc64_portable(crc, data, len);
}

#endif
