/* Processes text sixteen bytes at a time, so that scanning long runs is cheap. Each test returns a
 * mask with 0xFF in each byte where the test holds and 0x00 elsewhere. Thread-safe. */
#ifndef LAGRA_BASE_WORDS_H
#define LAGRA_BASE_WORDS_H

#include "base/bytes.h"
#include "base/endian.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#define WORD_BYTES 16u

typedef uint8_t word_bytes __attribute__((vector_size(WORD_BYTES)));
typedef int8_t word_signed __attribute__((vector_size(WORD_BYTES)));

static inline word_bytes word_load(const char *at)
{
    word_bytes loaded;

    memcpy(&loaded, at, sizeof loaded);
    return loaded;
}

/* Loads fewer than WORD_BYTES bytes and pads them with zeros. Two overlapping loads cover all
 * lengths from 4 to 8. */
static inline word_bytes word_load_part(struct bytes part)
{
    uint64_t halves[2] = { 0, 0 };
    word_bytes loaded;

    if (part.len >= 8) {
        halves[0] = le64_get(part.ptr);
        if (part.len > 8)
            halves[1] = le64_get(part.ptr + part.len - 8) >> 8 * (WORD_BYTES - part.len);
    } else if (part.len >= 4) {
        halves[0] = le32_get(part.ptr) | (uint64_t)le32_get(part.ptr + part.len - 4)
                                             << 8 * (part.len - 4);
    } else {
        for (size_t i = 0; i < part.len; i++)
            halves[0] |= (uint64_t)(uint8_t)part.ptr[i] << 8 * i;
    }
    halves[0] = htole64(halves[0]);
    halves[1] = htole64(halves[1]);
    memcpy(&loaded, halves, sizeof loaded);
    return loaded;
}

static inline word_bytes word_below(word_bytes bytes, uint8_t limit)
{
    return (word_bytes)(bytes < limit);
}

static inline word_bytes word_equal(word_bytes bytes, char byte)
{
    return (word_bytes)(bytes == (uint8_t)byte);
}

static inline word_bytes word_between(word_bytes bytes, char first, char last)
{
    return ~word_below(bytes, (uint8_t)first) & word_below(bytes, (uint8_t)(last + 1));
}

static inline word_bytes word_not_ascii(word_bytes bytes)
{
    return (word_bytes)((word_signed)bytes < 0);
}

/* Tests for control characters (except U+007F) and non-ASCII bytes with one comparison. */
static inline word_bytes word_not_visible_ascii(word_bytes bytes)
{
    return (word_bytes)((word_signed)bytes < 0x20);
}

/* Returns the index of the first byte for which a test holds, or WORD_BYTES if none exists. */
static inline unsigned word_first(word_bytes tested)
{
#if defined(__x86_64__)
    return (unsigned)__builtin_ctz((unsigned)_mm_movemask_epi8((__m128i)tested) | 1u << WORD_BYTES);
#else
    uint64_t halves[2];

    memcpy(halves, &tested, sizeof halves);
    if (halves[0] != 0)
        return (unsigned)__builtin_ctzll(le64toh(halves[0])) / 8;
    return halves[1] != 0 ? 8 + (unsigned)__builtin_ctzll(le64toh(halves[1])) / 8 : WORD_BYTES;
#endif
}

static inline bool word_any(word_bytes tested)
{
    return word_first(tested) < WORD_BYTES;
}

/* Returns the length of the text before the first byte for which the test holds. */
static inline __attribute__((always_inline)) size_t word_run(struct bytes text,
                                                             word_bytes (*test)(word_bytes))
{
    size_t at = 0, left;
    unsigned first;

    for (; text.len - at >= WORD_BYTES; at += WORD_BYTES) {
        first = word_first(test(word_load(text.ptr + at)));
        if (first < WORD_BYTES)
            return at + first;
    }
    left = text.len - at;
    if (left == 0)
        return at;
    if (at > 0) {
        at = text.len - WORD_BYTES; /* rereads some bytes */
        return at + word_first(test(word_load(text.ptr + at)));
    }
    first = word_first(test(word_load_part(bytes_of(text.ptr + at, left))));
    return at + (first < left ? first : left);
}

#endif
