/* CRC-32C (Castagnoli). With the CPU's instruction (SSE4.2, ARMv8's CRC32 extension) three runs are
 * computed in parallel, because the instruction has a latency of three cycles but one can start
 * every cycle. The runs are joined by multiplying with a power of x, stored as tables. Without the
 * instruction, eight tables process eight bytes a step. */
#include "base/crc_private.h"

#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#define POLYNOMIAL 0x82F63B78u /* reflected */
#define RUN_BYTES  1024u       /* each of the three runs */

struct tables {
    uint32_t step[8][256];
    uint32_t shift[4][256]; /* advances a CRC over RUN_BYTES zero bytes */
};

static struct tables tables;

static uint32_t shift_over_run(uint32_t crc)
{
    return tables.shift[0][crc & 0xFF] ^ tables.shift[1][crc >> 8 & 0xFF] ^
           tables.shift[2][crc >> 16 & 0xFF] ^ tables.shift[3][crc >> 24];
}

/* Advances a CRC over RUN_BYTES zero bytes, byte by byte. Called only for single bits, since the
 * CRC is linear. */
static uint32_t move_over_run(uint32_t crc)
{
    for (size_t n = 0; n < RUN_BYTES; n++)
        crc = crc >> 8 ^ tables.step[0][crc & 0xFF];
    return crc;
}

/* Runs before main(), so that threads need not check whether the tables are ready. */
__attribute__((constructor)) static void fill_tables(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;

        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
        tables.step[0][i] = crc;
    }
    for (size_t t = 1; t < 8; t++)
        for (size_t i = 0; i < 256; i++)
            tables.step[t][i] =
                tables.step[t - 1][i] >> 8 ^ tables.step[0][tables.step[t - 1][i] & 0xFF];
    for (size_t t = 0; t < 4; t++)
        for (uint32_t i = 1; i < 256; i++)
            tables.shift[t][i] = (i & (i - 1)) == 0
                                     ? move_over_run(i << 8 * t)
                                     : tables.shift[t][i & (i - 1)] ^ tables.shift[t][i & -i];
}

uint32_t crc32c_portable(uint32_t crc, const void *data, size_t len)
{
    const uint8_t *at = data;

    crc = ~crc;
    for (; len >= 8; at += 8, len -= 8) {
        uint64_t word;

        memcpy(&word, at, sizeof word);
        word = le64toh(word) ^ crc;
        crc = tables.step[7][word & 0xFF] ^ tables.step[6][word >> 8 & 0xFF] ^
              tables.step[5][word >> 16 & 0xFF] ^ tables.step[4][word >> 24 & 0xFF] ^
              tables.step[3][word >> 32 & 0xFF] ^ tables.step[2][word >> 40 & 0xFF] ^
              tables.step[1][word >> 48 & 0xFF] ^ tables.step[0][word >> 56];
    }
    for (; len > 0; len--)
        crc = crc >> 8 ^ tables.step[0][(crc ^ *at++) & 0xFF];
    return ~crc;
}

#if defined(CRC32C_INSTRUCTION)

#if defined(__x86_64__)
#define WITH_INSTRUCTION __attribute__((target("sse4.2")))

WITH_INSTRUCTION static inline uint32_t add_word(uint32_t crc, uint64_t word)
{
    return (uint32_t)_mm_crc32_u64(crc, word);
}

WITH_INSTRUCTION static inline uint32_t add_byte(uint32_t crc, uint8_t byte)
{
    return _mm_crc32_u8(crc, byte);
}

bool crc32c_has_instruction(void)
{
    return __builtin_cpu_supports("sse4.2");
}

#else
#define WITH_INSTRUCTION __attribute__((target("+crc")))

WITH_INSTRUCTION static inline uint32_t add_word(uint32_t crc, uint64_t word)
{
    return __crc32cd(crc, word);
}

WITH_INSTRUCTION static inline uint32_t add_byte(uint32_t crc, uint8_t byte)
{
    return __crc32cb(crc, byte);
}

bool crc32c_has_instruction(void)
{
    return getauxval(AT_HWCAP) & HWCAP_CRC32;
}
#endif

static inline uint64_t load64(const uint8_t *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof word);
    return word;
}

WITH_INSTRUCTION uint32_t crc32c_instruction(uint32_t crc, const void *data, size_t len)
{
    const uint8_t *at = data;
    uint32_t first = ~crc;

    for (; len >= 3 * RUN_BYTES; at += 3 * RUN_BYTES, len -= 3 * RUN_BYTES) {
        uint32_t second = 0, third = 0;

        for (size_t i = 0; i < RUN_BYTES; i += 8) {
            first = add_word(first, load64(at + i));
            second = add_word(second, load64(at + RUN_BYTES + i));
            third = add_word(third, load64(at + 2 * (size_t)RUN_BYTES + i));
        }
        first = shift_over_run(first) ^ second;
        first = shift_over_run(first) ^ third;
    }
    for (; len >= 8; at += 8, len -= 8)
        first = add_word(first, load64(at));
    for (; len > 0; len--)
        first = add_byte(first, *at++);
    return ~first;
}

uint32_t crc32c(uint32_t crc, const void *data, size_t len)
{
    return crc32c_has_instruction() ? crc32c_instruction(crc, data, len)
                                    : crc32c_portable(crc, data, len);
}

#else

uint32_t crc32c(uint32_t crc, const void *data, size_t len)
{
    return crc32c_portable(crc, data, len);
}

#endif

/* Advances the first CRC over as many zeros as the second string has bytes. */
uint32_t crc32c_join(uint32_t first, uint32_t second, size_t second_len)
{
    static const uint8_t zeros[RUN_BYTES];

    for (; second_len >= RUN_BYTES; second_len -= RUN_BYTES)
        first = shift_over_run(first);
    return ~crc32c(~first, zeros, second_len) ^ second;
}
