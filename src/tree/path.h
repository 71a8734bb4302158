/* Names and paths of a tree, with the rules shared by all protocols. Each service also checks the
 * rules of its own protocol (reserved names, trailing dots, characters that Windows does not
 * allow).
 *
 * Lengths are in UTF-16 code units, as in Windows and .NET. Thread-safe. */
#ifndef LAGRA_TREE_PATH_H
#define LAGRA_TREE_PATH_H

#include "base/arena.h"

/* semantics 10.1 */
#define TREE_NAME_MAX  255
#define TREE_PATH_MAX  2048
#define TREE_DEPTH_MAX 250

/* How the names of a tree are compared. */
enum tree_case {
    TREE_CASE_EXACT,
    TREE_CASE_IGNORED, /* case-insensitive but case-preserving; see upcase_text() */
};

struct tree_name {
    struct bytes given;
    struct bytes key; /* key for comparing and ordering; equal names have equal keys */
};

struct tree_path {
    const struct tree_name *names; /* in the arena */
    size_t count;                  /* 0 for the root */
};

enum tree_path_fault {
    TREE_PATH_OK = 0,
    TREE_PATH_NOT_UTF8,
    TREE_NAME_EMPTY, /* "a//b", "/a", "a/" */
    TREE_NAME_DOTS,  /* "." or "..", which are not allowed as names and are not resolved here */
    TREE_NAME_HAS_NUL,
    TREE_NAME_TOO_LONG,
    TREE_PATH_TOO_LONG,
    TREE_PATH_TOO_DEEP,
};

/* Parses a path: names separated by '/'; empty for the root. *ret_path points into the text. */
enum tree_path_fault tree_path_parse(struct arena *arena, enum tree_case rule, struct bytes text,
                                     struct tree_path *ret_path);
/* Parses a single name by the same rules. Does not check for '/'. */
enum tree_path_fault tree_name_parse(struct arena *arena, enum tree_case rule, struct bytes text,
                                     struct tree_name *ret_name);
/* Returns the key of a name, or of a prefix of one. text: UTF-8. */
struct bytes tree_key(struct arena *arena, enum tree_case rule, struct bytes text);

/* Upper case as in Windows' file systems, for case-insensitive names. A table maps each UTF-16 code
 * unit; there is no composition or decomposition, the length does not change, and code points
 * beyond the BMP are not mapped. [MS-UCODEREF] 3.1.5.3; decision: 311. Thread-safe. */

uint16_t upcase_unit(uint16_t unit);
/* Converts UTF-8 text to upper case. The number of bytes may change, the number of UTF-16 code
 * units does not. */
struct bytes upcase_text(struct arena *arena, struct bytes text);

#endif
