/* Names and paths of a tree: the rules that all protocols share. Each service checks the rules of its own
 * protocol (reserved names, trailing dots, characters that Windows refuses).
 *
 * Lengths are UTF-16 code units, as Windows and .NET count them. Any thread. */
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
    TREE_CASE_IGNORED, /* but names are kept as given; upcase.h */
};

struct tree_name {
    struct bytes given;
    struct bytes key; /* for comparison and order; equal names have the same key */
};

struct tree_path {
    const struct tree_name *names; /* in the arena */
    size_t count;                  /* 0: the root */
};

enum tree_path_fault {
    TREE_PATH_OK = 0,
    TREE_PATH_NOT_UTF8,
    TREE_NAME_EMPTY, /* "a//b", "/a", "a/" */
    TREE_NAME_DOTS,  /* "." or "..": they are no names, and nothing is resolved here */
    TREE_NAME_HAS_NUL,
    TREE_NAME_TOO_LONG,
    TREE_PATH_TOO_LONG,
    TREE_PATH_TOO_DEEP,
};

/* text: names with '/' between them; empty: the root. *ret_path points into it. */
enum tree_path_fault tree_path_parse(struct arena *arena, enum tree_case rule, struct bytes text,
                                     struct tree_path *ret_path);
/* One name, by the same rules. Does not check for '/'. */
enum tree_path_fault tree_name_parse(struct arena *arena, enum tree_case rule, struct bytes text,
                                     struct tree_name *ret_name);
/* The key of a name, or of a prefix of one. text: UTF-8. */
struct bytes tree_key(struct arena *arena, enum tree_case rule, struct bytes text);

#endif
