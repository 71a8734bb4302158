/* Name patterns of SMB directory listings, case-insensitive. MS-FSA 2.1.4.4
 *
 *   *  any characters          ?  one character
 *   <  any, up to the last dot (DOS_STAR)
 *   >  one, or none at a dot or the end (DOS_QM)
 *   "  a dot, or the end (DOS_DOT)
 *
 * Matching takes time proportional to the length of the name: one bit set holds all pattern
 * positions reachable after the characters matched so far. Thread-safe. */
#ifndef LAGRA_HANDLES_NAME_PATTERN_H
#define LAGRA_HANDLES_NAME_PATTERN_H

#include "base/arena.h"

/* A set of pattern positions: bit n is the position before character n, or the end. */
#define PATTERN_WORDS 4u
struct pattern_set {
    uint64_t words[PATTERN_WORDS];
};
struct pattern_character;

struct name_pattern {
    bool matches_all;    /* "*", or empty */
    bool is_name;        /* no wildcards: key is the only match */
    struct bytes key;    /* uppercase, tree_key(); in the arena */
    struct bytes prefix; /* common prefix of all matching names; may be empty */
    /* Positions of each kind of wildcard. */
    struct pattern_set stars, stars_to_dot, one_or_dot, ones, dots;
    struct pattern_set may_end; /* positions from which the end is reachable */
    size_t length;              /* number of characters */
    const struct pattern_character
        *characters; /* distinct literals, sorted by code; in the arena */
    size_t character_count;
};
/* Parses a pattern. text: UTF-8. Returns false if it is not valid UTF-8 or longer than any name. */
bool name_pattern_parse(struct arena *arena, struct bytes text, struct name_pattern *ret_pattern);
/* Matches a name. key: its tree_key() */
bool name_pattern_matches(const struct name_pattern *pattern, struct bytes key);

#endif
