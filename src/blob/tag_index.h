/* The index of a container by blob index tags: a record of the store's index (store.h) for each tag
 * of each base blob, written in the commit that changes the tags. Snapshots have tags too, but are
 * not indexed. In a hierarchical container, entries refer to nodes of the tree (found_path.h). Internal
 * to blob/.
 *
 *   key "t", name, 01, value, 01: no tag contains a byte below 0x20, so the keys are ordered by
 *          (name, value)
 *   value  all tags of the blob, encoded (concurrency/tags.h): a search reads nothing else */
#ifndef LAGRA_BLOB_TAG_INDEX_H
#define LAGRA_BLOB_TAG_INDEX_H

#include "blob/blob.h"

/* Return prefixes of the keys of a tag: with any value, and with this value. tag_index_after()
 * returns the key at which greater values start. */
struct bytes tag_index_prefix(struct arena *arena, struct bytes name);
struct bytes tag_index_key(struct arena *arena, struct bytes name, struct bytes value);
struct bytes tag_index_after(struct arena *arena, struct bytes name, struct bytes value);

#endif
