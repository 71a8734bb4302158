/* Patterns of names, as SMB clients list directories by: without regard to case. MS-FSA 2.1.4.4
 *
 *   *  any characters          ?  one character
 *   <  any, up to the last dot (DOS_STAR)
 *   >  one, or none at a dot or the end (DOS_QM)
 *   "  a dot, or the end (DOS_DOT)
 *
 * Takes time in proportion to the product of both lengths, no more. Any thread. */
#ifndef LAGRA_FILE_NAME_PATTERN_H
#define LAGRA_FILE_NAME_PATTERN_H

#include "base/arena.h"

struct name_pattern {
    bool matches_all;    /* "*", or empty */
    bool is_name;        /* without wildcards: the one name that matches */
    struct bytes key;    /* upper case, tree_key(); in the arena */
    struct bytes prefix; /* what all names that match begin with, of the text; may be empty */
};
/* text: UTF-8. False: it is not, or longer than any name. */
bool name_pattern_parse(struct arena *arena, struct bytes text, struct name_pattern *ret_pattern);
/* key: of the name, tree_key(). */
bool name_pattern_matches(const struct name_pattern *pattern, struct bytes key);

#endif
