/* Compares responses with states of the tree. */
#ifndef LAGRA_SIM_PATH_COMPARE_H
#define LAGRA_SIM_PATH_COMPARE_H

#include "path_model.h"

/* Compares the response to a request that changed nothing with a state. Returns NULL, or the difference. */
const char *path_compare_answer(const struct path_ask *ask, const struct reply *answer,
                                uint64_t commit, const struct path_moment *moment);
/* Like path_compare_answer(), for a list, whose entries are read one after another: each must have existed at some time
 * at the moment. */
const char *path_compare_walk(const struct path_ask *ask, const struct reply *answer,
                              const struct path_moment *moment);
/* Records the times of snapshots in a list of them. */
void path_take_snapshots(unsigned root, const struct reply *answer, uint64_t commit);
/* Sets *ret_next to the request for the next page of a list. Returns false if this was the last page. */
bool path_next_page(const struct path_ask *ask, const struct reply *answer,
                    struct path_ask *ret_next);

#endif
