/* What a tree does, said a second time and as simply as can be: nodes in one array, no partitions. */
#ifndef LAGRA_TESTS_TREE_MODEL_H
#define LAGRA_TESTS_TREE_MODEL_H

#include <stddef.h>

#include "tree/tree.h"

enum op_kind {
    OP_FIND, /* and read its tag */
    OP_MAKE_FILE,
    OP_MAKE_DIRECTORY,
    OP_DELETE,
    OP_REPLACE,
    OP_RENAME,
    OP_RENAME_OVER,
    OP_LIST,
    OP_TAG, /* gives it another tag */
    OP_SNAPSHOT,
    OP_END, /* of the newest snapshot, and collects what it leaves */
};
struct op {
    enum op_kind kind;
    const char *path, *to;
    char tag;    /* of what it makes */
    uint64_t at; /* of OP_FIND and OP_LIST: a snapshot's generation; 0: now */
};

#define SAW_SIZE 64
struct outcome {
    enum tree_result result;
    enum error error;   /* of TREE_FAILED */
    char saw[SAW_SIZE]; /* by OP_FIND: the tag; by OP_LIST: names, with '/' behind directories */
};

#define MODEL_NODES 64
struct model {
    struct model_node {
        bool used;
        int parent;
        enum tree_kind kind;
        char tag;
        char name[16];
    } nodes[MODEL_NODES]; /* 0: the root */
};
void model_init(struct model *model);
struct outcome model_run(struct model *model, const struct op *op);
/* All that it holds, as fixture_dump(). */
void model_dump(const struct model *model, char *out, size_t size);

#endif
