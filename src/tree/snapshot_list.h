/* Internal to tree/: pages of a directory's entries in a snapshot. */
#ifndef LAGRA_TREE_SNAPSHOT_LIST_H
#define LAGRA_TREE_SNAPSHOT_LIST_H

#include "tree/versions.h"

/* A page ends after this many records that it does not show. A name has at most one version per
 * snapshot. */
#define SNAPSHOT_LIST_LOOKS 10000u

/* Like tree_list(). prefix, from: of the keys of entry records. */
enum store_result snapshot_list(struct tree *tree, struct read_view *before, struct bytes prefix,
                                struct bytes from, size_t max, struct tree_page *page);

#endif
