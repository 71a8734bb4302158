/* Suggestions for mistyped words: see suggestions.h. */
#include "cli/suggestions.h"

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* Computes the table of distances between prefixes of the two words, keeping one row of it. */
unsigned suggestion_distance(struct bytes word, struct bytes name)
{
    unsigned row[SUGGESTION_WORD_MAX + 1];

    if (word.len > SUGGESTION_WORD_MAX)
        return SUGGESTION_WORD_MAX + 1;
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

struct suggestion suggestion_begin(struct bytes word)
{
    return (struct suggestion){
        .word = word,
        .limit = word.len > SUGGESTION_WORD_MAX ? 0 : (unsigned)(word.len + 1) / 3 + 1,
    };
}

void suggestion_try(struct suggestion *suggestion, struct bytes name)
{
    unsigned distance = suggestion_distance(suggestion->word, name);

    if (distance >= suggestion->limit)
        return;
    suggestion->limit = distance;
    suggestion->name = name;
}
