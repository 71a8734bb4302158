/* A share with directories and files for the tests of `lagra check`, made without a server. */
#ifndef LAGRA_TESTS_CHECK_TREE_WORLD_H
#define LAGRA_TESTS_CHECK_TREE_WORLD_H

#include "fixture.h"

#include "file/file.h"
#include "service/deciding.h"

struct world {
    struct fixture *f;
    struct guid space;
    const char *path;
    enum tree_kind kind;
    bool snapshot; /* takes one instead */
    bool deletes;  /* instead */
    bool copies;   /* into the file, from elsewhere: file/pending_file.h */
    uint64_t id;   /* of what was made */
};

/* The share "share" with "d" and "g"; "d/h" is in a snapshot alone. Files have 100 bytes. */
struct world begin(struct fixture *f);
/* Decides by it, on this world, and commits. */
void decide(struct world *w, attempt_fn *fn);
uint64_t make(struct world *w, const char *path, enum tree_kind kind);
struct partition node(struct world *w, uint64_t id);
void take_away(struct world *w, uint64_t id, enum record_family family, const char *key);

#endif
