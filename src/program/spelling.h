/* Which of some names a word was meant to be, for messages about words that are none of them. Any thread. */
#ifndef LAGRA_PROGRAM_SPELLING_H
#define LAGRA_PROGRAM_SPELLING_H

#include "base/bytes.h"

/* Longer words are like nothing. */
#define SPELLING_WORD_MAX 63u

/* The number of characters that must be inserted, removed or exchanged to turn one word into the other,
 * ignoring case (Levenshtein's distance); SPELLING_WORD_MAX + 1 if `word` is longer than that. */
unsigned spelling_distance(struct bytes word, struct bytes name);

/* How far a word may be from the name that it is taken for: a third of its letters may be wrong. */
static inline unsigned spelling_most(struct bytes word)
{
    return word.len > SPELLING_WORD_MAX ? 0 : (unsigned)(word.len + 1) / 3;
}

#endif
