/* What the files of the tree share. */
#ifndef LAGRA_TREE_TREE_PRIVATE_H
#define LAGRA_TREE_TREE_PRIVATE_H

#include "tree/tree.h"

/* Sets tree->failed, returns TREE_FAILED. */
enum tree_result tree_fail(struct tree *tree, enum store_result result);
/* As tree_open(), also of a tree that is closed. */
enum tree_result tree_open_any(struct tree *tree, struct decision *d, struct guid space,
                               enum tree_case rule);
/* The part of a node's partition: opened as a guard unless it is one of the decision's already. */
struct decision_part *tree_part(struct tree *tree, uint64_t id);

#endif
