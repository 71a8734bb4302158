/* Pages of directories and of shares beside the model. */
#ifndef LAGRA_SIM_FS_LIST_H
#define LAGRA_SIM_FS_LIST_H

#include "fs_model.h"

/* The page of a directory: which names there are is of `state`; what is shown of each, of that moment or a
 * later one (decision 332). NULL, or what is wrong. */
const char *fs_compare_files(const struct fs_ask *ask, const struct fs_state *state,
                             const struct reply *answer);
/* The page of shares: of one state. */
const char *fs_compare_shares(const struct fs_ask *ask, const struct fs_state *state,
                              const struct reply *answer);
/* Beside a state that a page fits, and no other: what it tells of ids, and of versions of deleted shares. NULL, or
 * what is wrong. */
const char *fs_learn_files(const struct fs_ask *ask, const struct fs_state *state,
                           const struct reply *answer);
const char *fs_learn_shares(const struct fs_ask *ask, const struct fs_state *state,
                            const struct reply *answer);
/* The text of an element between two places; false: there is none. */
bool fs_element(const char *from, const char *to, const char *name, char *text, size_t size);

#endif
