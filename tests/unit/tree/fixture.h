/* What the tests of src/tree share: a store with one tree, operations on it as decisions that are
 * attempted and committed as the server's are (service/deciding.h), and a look at all that it holds.
 * The store lies in memory; with LAGRA_TREE_STORE=embedded in the environment, in a folder of its own
 * below $TMPDIR, without syncs. */
#ifndef LAGRA_TESTS_TREE_FIXTURE_H
#define LAGRA_TESTS_TREE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model.h"

struct fixture {
    struct store *store;
    char folder[256]; /* empty: in memory */
    struct guid space;
    enum tree_case rule;
    uint64_t taken; /* the generation of the newest OP_SNAPSHOT; 0: none */
};

/* For cmocka: *state becomes a struct fixture. The log goes nowhere. */
int fixture_set_up(void **state);
int fixture_tear_down(void **state);
/* A fresh tree, of the same store. */
void fixture_new_tree(struct fixture *f, enum tree_case rule);
/* A fresh store. */
void fixture_new_store(struct fixture *f);

/* A decision, from its first attempt on; the arena is the caller's. */
struct decision fixture_decision(struct fixture *f, struct arena *arena, struct problem *problem);
/* Does it, however often it has to be attempted. Any thread. */
struct outcome fixture_run(struct fixture *f, const struct op *op);
/* It must go well. */
void fixture_do(struct fixture *f, enum op_kind kind, const char *path, const char *to);
/* All that the tree holds, in order: "a=1 b=2(c=3 )": names and tags, what a directory holds in
 * brackets. Proves tree invariants 1 and 3 on the way, and that nothing else is in the space. */
void fixture_dump(struct fixture *f, char *out, size_t size);
/* The same of a snapshot, by what the tree offers for that. */
void fixture_dump_at(struct fixture *f, uint64_t generation, char *out, size_t size);
void fixture_delete_snapshot(struct fixture *f, uint64_t generation);
/* Runs the tasks that deleted snapshots have left, to the end. Proves that what is left are versions that
 * a snapshot sees. */
void fixture_collect(struct fixture *f);
/* Versions that there are, as the index has them. */
size_t fixture_versions(struct fixture *f);

#define DUMP_SIZE 4096

#endif
