/* List Ranges beside a file of the model. */
#ifndef LAGRA_SIM_FS_RANGES_H
#define LAGRA_SIM_FS_RANGES_H

#include "fs_model.h"

/* older: what it is compared with; NULL: with nothing, so that all bytes are shown. differs_since: the commit
 * of that snapshot. NULL, or what is wrong. */
const char *fs_compare_ranges(const struct fs_ask *ask, const struct fs_node *node,
                              const struct fs_node *older, uint64_t differs_since,
                              const struct reply *answer);

#endif
