/* Finds the name that a mistyped word was probably meant to be, for error messages. Thread-safe. */
#ifndef LAGRA_CLI_SUGGESTIONS_H
#define LAGRA_CLI_SUGGESTIONS_H

#include "base/bytes.h"

/* Longest word that is compared. */
#define SUGGESTION_WORD_MAX 63u

/* Returns the number of characters to insert, remove or replace to turn one word into the other,
 * ignoring case (Levenshtein distance), or SUGGESTION_WORD_MAX + 1 if `word` is longer than that. */
unsigned suggestion_distance(struct bytes word, struct bytes name);

struct suggestion {
    struct bytes word;
    struct bytes name; /* most similar name so far; ptr NULL if none is similar */
    unsigned limit;    /* a name must be nearer than this */
};
/* Starts a search. A name is similar if at most a third of the word's letters differ. */
struct suggestion suggestion_begin(struct bytes word);
/* Replaces the suggestion by `name` if that is more similar. */
void suggestion_try(struct suggestion *suggestion, struct bytes name);

#endif
