/* Returns the deleted paths that a hierarchical container retains, for List Blobs: entries of its
 * index (kept_paths.h), in the order of a walk over its directories. */
#ifndef LAGRA_BLOB_LIST_KEPT_H
#define LAGRA_BLOB_LIST_KEPT_H

#include "blob/container_operations.h"

/* Key of a deletion among the records of a name: 02, be64 complement of its time. So deletions
 * precede the existing blob of the name. */
#define KEPT_PATH_KEY_PREFIX '\x02'
#define KEPT_PATH_KEY_SIZE   9u

static inline bool key_is_of_kept_path(struct bytes record_key)
{
    return record_key.len == KEPT_PATH_KEY_SIZE && record_key.ptr[0] == KEPT_PATH_KEY_PREFIX;
}

struct kept_paths;
/* Starts at a place. Names of directories end with a slash if the delimiter is one. */
struct kept_paths *kept_paths_open(struct decision *d, const struct list_blobs_parameters *asked,
                                   const struct listing_place *from);
/* Returns the next one, expired or not; its partition key is the path. Returns like
 * space_iterator_next(). */
enum store_result kept_paths_next(struct kept_paths *paths, struct space_record *ret_record);
/* Continues with the next path that does not start with these bytes. */
void kept_paths_skip(struct kept_paths *paths, struct bytes group);
/* Returns STORE_OK, or STORE_CONFLICT if paths were deleted or restored since the opening; after
 * some attempts that is accepted. */
enum store_result kept_paths_confirm(struct kept_paths *paths);
void kept_paths_close(struct kept_paths *paths);

#endif
