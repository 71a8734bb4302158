/* Inside tree/ and for `lagra check` only: records that snapshots keep. README.md, "Snapshots".
 *
 * Such a record begins with the generation in which it was written. Before one that a snapshot sees is
 * changed or deleted, it is kept as a version, whose `until` is the newest generation that is kept then. So
 * each version covers an interval of generations [written, until], and no two of a key overlap.
 *
 * A version of a partition is found by its key there, and by the index of the space: by `until`, then by
 * partition. tree_collect() uses that order. */
#ifndef LAGRA_TREE_VERSIONS_H
#define LAGRA_TREE_VERSIONS_H

#include "tree/tree_private.h"

/* Separates the generation from the rest of such a record. False: the record is malformed. */
bool version_split(struct bytes value, struct tree_record *ret_record);
/* The record that the tree's view sees (tree->at), with its generation, which is valid; in the arena.
 * returns as snapshot_get() */
enum store_result version_read(const struct tree *tree, struct snapshot *before,
                               struct arena *arena, struct bytes key, struct bytes *ret_value);

/* Keeps a record that is about to be changed or deleted, if a snapshot sees it. value: with its
 * generation, which is `written` */
void version_keep(struct tree *tree, struct decision_part *part, struct bytes key, uint64_t written,
                  struct bytes value);

/* The prefix of the keys of all versions of a record. */
struct bytes version_prefix(struct arena *arena, struct bytes key);
/* The key of a version's record. */
struct bytes version_key(struct arena *arena, struct bytes key, uint64_t until);
/* Its parts, which point into it. False: the key is malformed. */
bool version_key_parse(struct bytes version, struct bytes *ret_key, uint64_t *ret_until);
void version_put(struct changes *changes, struct bytes partition, struct bytes key, uint64_t until,
                 struct bytes value);
void version_delete(struct changes *changes, struct bytes partition, struct bytes key,
                    uint64_t until);

/* Marks a partition that has versions, by a LISTED record, so that those of a deleted node are found. */
void version_mark_put(struct changes *changes);
void version_mark_delete(struct changes *changes);
/* returns STORE_OK, STORE_NOT_FOUND.. */
enum store_result version_mark_read(struct snapshot *before, struct arena *arena);

/* The key in the index: 8 be until, 8 be id, key of the record. */
struct bytes version_index_key(struct arena *arena, uint64_t until, struct bytes partition,
                               struct bytes key);

#endif
