/* How far words are from each other: see spelling.h. */
#include "program/spelling.h"

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* Row by row of the table of distances between beginnings of the two. */
unsigned spelling_distance(struct bytes word, struct bytes name)
{
    unsigned row[SPELLING_WORD_MAX + 1];

    if (word.len > SPELLING_WORD_MAX)
        return SPELLING_WORD_MAX + 1;
    for (unsigned i = 0; i <= word.len; i++)
        row[i] = i;
    for (size_t j = 0; j < name.len; j++) {
        unsigned above_left = row[0]++;

        for (size_t i = 0; i < word.len; i++) {
            unsigned exchanged = above_left + (lower(word.ptr[i]) != lower(name.ptr[j]));
            unsigned least = row[i] < row[i + 1] ? row[i] + 1 : row[i + 1] + 1;

            above_left = row[i + 1];
            row[i + 1] = exchanged < least ? exchanged : least;
        }
    }
    return row[word.len];
}
