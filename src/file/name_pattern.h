/* Patterns of names, as SMB clients list directories by, without regard to case. MS-FSA 2.1.4.4
 *
 *   *  any characters          ?  one character
 *   <  any, up to the last dot (DOS_STAR)
 *   >  one, or none at a dot or the end (DOS_QM)
 *   "  a dot, or the end (DOS_DOT)
 *
 * A match takes time in proportion to the length of the name: all positions of the pattern that the name until here
 * may have reached are one set of bits. Thread-safe. */
#ifndef LAGRA_FILE_NAME_PATTERN_H
#define LAGRA_FILE_NAME_PATTERN_H

#include "base/arena.h"

/* A set of positions of a pattern: bit n is the position before its character n, or its end. */
#define PATTERN_WORDS 4u
struct pattern_set {
    uint64_t words[PATTERN_WORDS];
};
struct pattern_character;

struct name_pattern {
    bool matches_all;    /* "*", or empty */
    bool is_name;        /* without wildcards: the one name that matches */
    struct bytes key;    /* upper case, tree_key(); in the arena */
    struct bytes prefix; /* of the text: the start of all names that match; may be empty */
    /* Of one with wildcards: where each stands. */
    struct pattern_set stars, stars_to_dot, one_or_dot, ones, dots;
    struct pattern_set may_end;                 /* positions after which nothing need follow */
    size_t length;                              /* in characters */
    const struct pattern_character *characters; /* distinct literal ones, by code; in the arena */
    size_t character_count;
};
/* text: UTF-8. Returns false if it is not, or is longer than any name. */
bool name_pattern_parse(struct arena *arena, struct bytes text, struct name_pattern *ret_pattern);
/* key: of the name, tree_key(). */
bool name_pattern_matches(const struct name_pattern *pattern, struct bytes key);

#endif
