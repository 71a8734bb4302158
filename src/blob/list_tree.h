/* Returns the records of a hierarchical container in the order of its names, for List Blobs: a walk
 * over its directories, each followed by the names below it. The order depends only on the names,
 * so the walk can continue at a name that no longer exists.
 *
 * A page reads many partitions. tree_records_confirm() detects whether a directory changed after it
 * was read and before the page ended, so that a rename is seen completely or not at all. */
#ifndef LAGRA_BLOB_LIST_TREE_H
#define LAGRA_BLOB_LIST_TREE_H

#include "acl/posix_acl.h"
#include "blob/container_operations.h"

struct tree_records;
/* Starts at a name, or at the next one if it does not exist. The walk is limited to the entries of
 * one directory if asked->one_level is set, or if the delimiter is a slash; then names of
 * directories end with a slash. */
struct tree_records *tree_records_open(struct decision *d,
                                       const struct list_blobs_parameters *asked,
                                       struct bytes from);
/* Makes the walk check that access control lists permit the callers this operation on each
 * directory. Called before the first record; operations with NEEDS_LIST need the permission to
 * list. */
void tree_records_rule(struct tree_records *records, enum posix_operation operation);
/* Checks that the sticky bit of its directory does not prevent the callers from deleting the
 * current name. Returns STORE_OK, STORE_CORRUPT. */
enum store_result tree_records_unlink(struct tree_records *records, const struct blob *blob);
/* Returns the next record; its partition key is the path. Returns like space_iterator_next(). */
enum store_result tree_records_next(struct tree_records *records, struct space_record *ret_record);
/* Continues with the first record of the current name at or after this key. */
void tree_records_seek(struct tree_records *records, struct bytes record_key);
/* Continues with the next name that is not below the current one. */
void tree_records_skip(struct tree_records *records);
/* Keeps the partition of the current name among the decision's parts. */
struct decision_part *tree_records_keep(struct tree_records *records);
/* Returns true if an access control list denied the callers a directory or name of the walk
 * (access_control.h). */
bool tree_records_are_refused(const struct tree_records *records);
/* Returns STORE_OK, or STORE_CONFLICT if directories have changed since they were read. After some
 * attempts, changes are accepted. */
enum store_result tree_records_confirm(const struct tree_records *records);
void tree_records_close(struct tree_records *records);

#endif
