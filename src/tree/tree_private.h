/* Declarations shared by the files of tree/. */
#ifndef LAGRA_TREE_TREE_PRIVATE_H
#define LAGRA_TREE_TREE_PRIVATE_H

#include "tree/tree.h"

/* Sets tree->failed, returns TREE_FAILED. */
enum tree_result tree_fail(struct tree *tree, enum store_result result);
/* Like tree_open(), but also opens a closed tree. */
enum tree_result tree_open_any(struct tree *tree, struct decision *d, struct guid space,
                               enum tree_case rule);
/* Returns the part of a node's partition, opening it as a guard if it is not a part yet. */
struct decision_part *tree_part(struct tree *tree, uint64_t id);

#endif
