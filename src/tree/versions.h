/* Declarations shared by the files of tree/, some also with `lagra check`. */
#ifndef LAGRA_TREE_VERSIONS_H
#define LAGRA_TREE_VERSIONS_H

#include "tree/tree.h"

/* Sets tree->failed, returns TREE_FAILED. */
enum tree_result tree_fail(struct tree *tree, enum store_result result);
/* Like tree_open(), but also opens a closed tree. */
enum tree_result tree_open_any(struct tree *tree, struct decision *d, struct guid space,
                               enum tree_case rule);
/* Returns the part of a node's partition, opening it as a guard if it is not a part yet. */
struct decision_part *tree_part(struct tree *tree, uint64_t id);

/* Internal to tree/ and `lagra check`: records retained for snapshots. README.md, "Snapshots".
 *
 * Such a record starts with the generation in which it was written. Before a record that a snapshot
 * sees is changed or deleted, it is retained as a version, whose `until` is the newest generation
 * retained at that time. So each version covers an interval of generations [written, until], and no
 * two of a key overlap.
 *
 * A version of a partition is found by its key there, and by the index of the space, ordered by
 * `until`, then by partition. tree_collect() uses that order. */

/* Splits such a record into generation and value. Returns false if it is malformed. */
bool version_split(struct bytes value, struct tree_record *ret_record);
/* Reads the record that the tree's view sees (tree->at), with its valid generation, into the arena.
 * Returns like read_view_get(). */
enum store_result version_read(const struct tree *tree, struct read_view *before,
                               struct arena *arena, struct bytes key, struct bytes *ret_value);

/* Retains a record that is about to be changed or deleted, if a snapshot sees it. value: including
 * its generation, which is `written`. */
void version_keep(struct tree *tree, struct decision_part *part, struct bytes key, uint64_t written,
                  struct bytes value);

/* Returns the key prefix of all versions of a record. */
struct bytes version_prefix(struct arena *arena, struct bytes key);
/* Returns the key of a version's record. */
struct bytes version_key(struct arena *arena, struct bytes key, uint64_t until);
/* Splits the key of a version; the results point into it. Returns false if it is malformed. */
bool version_key_parse(struct bytes version, struct bytes *ret_key, uint64_t *ret_until);
void version_put(struct changes *changes, struct bytes partition, struct bytes key, uint64_t until,
                 struct bytes value);
void version_delete(struct changes *changes, struct bytes partition, struct bytes key,
                    uint64_t until);

/* Marks a partition with versions by a LISTED record, so that versions of a deleted node can be
 * found. */
void version_mark_put(struct changes *changes);
void version_mark_delete(struct changes *changes);
/* Returns STORE_OK, STORE_NOT_FOUND.. */
enum store_result version_mark_read(struct read_view *before, struct arena *arena);

/* Returns the key in the index: 8 be until, 8 be id, key of the record. */
struct bytes version_index_key(struct arena *arena, uint64_t until, struct bytes partition,
                               struct bytes key);

/* Internal to tree/: pages of a directory's entries in a snapshot. */

/* A page ends after this many records that it does not show. A name has at most one version per
 * snapshot. */
#define SNAPSHOT_LIST_LOOKS 10000u

/* Like tree_list(). prefix, from: of the keys of entry records. */
enum store_result snapshot_list(struct tree *tree, struct read_view *before, struct bytes prefix,
                                struct bytes from, size_t max, struct tree_page *page);

#endif
