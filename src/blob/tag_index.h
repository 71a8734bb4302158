/* The index of a container by the index tags of its blobs: a record of the store's index (store.h)
 * for each tag of each base blob, written in the commit that changes the tags. Snapshots have tags
 * too, and are not found by them. Inside the blob room only.
 *
 *   key    "t", name, 01, value, 01: no tag holds a byte below 20, so these keys are ordered by
 *          (name, value)
 *   value  all tags of the blob, encoded (concurrency/tags.h): a search reads nothing else */
#ifndef LAGRA_BLOB_TAG_INDEX_H
#define LAGRA_BLOB_TAG_INDEX_H

#include "blob/blob.h"

/* Brings the index up to date where a base blob's tags change, or the blob comes or goes; both
 * encoded, ptr NULL: none. */
void tag_index_update(struct changes *changes, struct arena *arena, struct bytes were,
                      struct bytes are);

/* What the keys of a tag begin with: with any value; with this one; with one above this one, in
 * which case the key is a place to begin at. */
struct bytes tag_index_prefix(struct arena *arena, struct bytes name);
struct bytes tag_index_key(struct arena *arena, struct bytes name, struct bytes value);
struct bytes tag_index_after(struct arena *arena, struct bytes name, struct bytes value);

#endif
