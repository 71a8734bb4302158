/* Indexes the deleted paths of a hierarchical container (kept_paths.h): an index record
 * (store/store.h) for each of them, in the partition of its node, is written in the commit that
 * changes the record of its blob. Internal to blob/.
 *
 *   key    "p", the path with 02 for each '/', 01, be64 complement of the time of the deletion
 *   value  the record of the blob
 *
 * Names contain no byte below 20, so the keys are in the order of a listing (namespace_compare()),
 * and the newest deletion of a path is the first. */
#ifndef LAGRA_BLOB_KEPT_PATH_INDEX_H
#define LAGRA_BLOB_KEPT_PATH_INDEX_H

#include "blob/blob.h"

/* Updates the index when a record changes; either may be NULL. For blob_change(). */
void kept_path_index_update(struct changes *changes, struct arena *arena, const struct blob *was,
                            const struct blob *now);

/* Returns the prefix of the keys of all paths that start with these bytes. */
struct bytes kept_path_prefix(struct arena *arena, struct bytes path);

/* Contains a deletion of a path, as the index shows it. */
struct kept_path {
    uint64_t node;
    struct blob blob;
};
/* Finds a deletion of a path that is still retained. deleted: 0 for the newest one. Returns STORE_OK,
 * STORE_NOT_FOUND, or another failure. */
enum store_result kept_path_find(struct decision *d, struct bytes path, instant deleted,
                                 struct kept_path *ret_kept);

#endif
