/* Declarations shared by the files of tree/; `lagra check` also uses some. */
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
 * Such a record starts with the generation in which it was written. Before a record that a
 * snapshot contains is changed or deleted, it is retained as a version, whose `until` is the newest
 * generation retained at that time. Each version therefore covers an interval of generations
 * [written, until], and no two versions of a record overlap.
 *
 * A version can be found by its key in the partition, and by the space's index, which is ordered
 * by `until`, then by partition; tree_collect() uses the index. */

/* Splits such a record's value into the generation and the rest. Returns false if it is
 * malformed. */
bool version_split(struct bytes value, struct tree_record *ret_record);
/* Reads the value that the record has in the tree's view (tree->at) into the arena, after checking
 * its generation. Returns the results of read_view_get(). */
enum store_result version_read(const struct tree *tree, struct read_view *before,
                               struct arena *arena, struct bytes key, struct bytes *ret_value);

/* Retains a record that is about to be changed or deleted, if a snapshot contains it. value: the
 * complete value, with its generation, which is `written` */
void version_retain(struct tree *tree, struct decision_part *part, struct bytes key,
                    uint64_t written, struct bytes value);

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

/* Write and delete the LISTED record that marks a partition with versions, so that versions of a
 * deleted node can be found. */
void version_mark_put(struct changes *changes);
void version_mark_delete(struct changes *changes);
/* Returns STORE_OK if the mark exists; otherwise like read_view_get(). */
enum store_result version_mark_read(struct read_view *before, struct arena *arena);

/* Returns the key in the index: 8 be until, 8 be id, key of the record. */
struct bytes version_index_key(struct arena *arena, uint64_t until, struct bytes partition,
                               struct bytes key);

/* Internal to tree/: pages of a directory's entries in a snapshot. */

/* Maximum number of skipped records per page. A name has at most one version per snapshot. */
#define SNAPSHOT_LIST_LOOKS 10000u

/* Like tree_list(). prefix, from: prefix and start of the keys of entry records */
enum store_result snapshot_list(struct tree *tree, struct read_view *before, struct bytes prefix,
                                struct bytes from, size_t max, struct tree_page *page);

#endif
