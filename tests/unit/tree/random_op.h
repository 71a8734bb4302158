/* Random operations on few names, so that they meet. */
#ifndef LAGRA_TESTS_TREE_RANDOM_OP_H
#define LAGRA_TESTS_TREE_RANDOM_OP_H

#include "model.h"

/* 0..below - 1. */
uint64_t draw(uint64_t *random, uint64_t below);
/* None of a snapshot. The paths lie in the rooms. */
struct op random_op(uint64_t *random, char path[16], char to[16]);

#endif
