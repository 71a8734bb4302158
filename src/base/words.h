/* Text eight bytes at a time, so that long runs of it cost little to look through. Each test answers
 * for the eight bytes of a word together; which of them it is, the caller looks up byte by byte.
 * Any thread. */
#ifndef LAGRA_BASE_WORDS_H
#define LAGRA_BASE_WORDS_H

#include "base/bytes.h"

#define WORD_BYTES sizeof(uint64_t)
#define WORD_ONES  UINT64_C(0x0101010101010101)
#define WORD_HIGHS (WORD_ONES * 0x80)

static inline uint64_t word_load(const char *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof word);
    return word;
}

/* Is each byte below 0x80? */
static inline bool word_is_ascii(uint64_t word)
{
    return (word & WORD_HIGHS) == 0;
}

/* Is any byte below `limit`, which is at most 0x80? */
static inline bool word_has_below(uint64_t word, uint8_t limit)
{
    return ((word - WORD_ONES * limit) & ~word & WORD_HIGHS) != 0;
}

/* Is any byte this one? */
static inline bool word_has(uint64_t word, char byte)
{
    return word_has_below(word ^ WORD_ONES * (uint8_t)byte, 1);
}

#endif
