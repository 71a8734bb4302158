/* An answer beside a state of the tree. */
#ifndef LAGRA_SIM_PATH_COMPARE_H
#define LAGRA_SIM_PATH_COMPARE_H

#include "path_model.h"

/* NULL, or what is wrong with the answer of a request that changed nothing. */
const char *path_compare_answer(const struct path_ask *ask, const struct reply *answer,
                                uint64_t commit);
/* The same of a list, whose entries are read one after the other: each entry was there at some time. */
const char *path_compare_walk(const struct path_ask *ask, const struct reply *answer, uint64_t from,
                              uint64_t to);
/* The next page of a list; false: it was the last one. */
bool path_next_page(const struct path_ask *ask, const struct reply *answer,
                    struct path_ask *ret_next);

#endif
