/* Text sixteen bytes at a time, so that long runs of it cost little to look through. A test of a word
 * tells of each of its bytes (not 0: it holds), and word_any() whether it holds of one of them; which
 * one it is, the caller looks up byte by byte.
 * Any thread. */
#ifndef LAGRA_BASE_WORDS_H
#define LAGRA_BASE_WORDS_H

#include "base/bytes.h"

#define WORD_BYTES 16u

typedef uint8_t word_bytes __attribute__((vector_size(WORD_BYTES)));

static inline word_bytes word_load(const char *at)
{
    word_bytes loaded;

    memcpy(&loaded, at, sizeof loaded);
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

static inline word_bytes word_not_ascii(word_bytes bytes)
{
    return (word_bytes)(bytes >= 0x80);
}

static inline bool word_any(word_bytes tested)
{
    uint64_t halves[2];

    memcpy(halves, &tested, sizeof halves);
    return (halves[0] | halves[1]) != 0;
}

#endif
