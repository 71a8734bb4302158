/* Internal to blob/: scans the snapshots and versions of a blob by date, with marks applied
 * (snapshot_marks.h). A long scan would block other requests of a worker, where it returns
 * STORE_WAIT instead.
 *
 * All run inside decide or a task, and return STORE_OK, STORE_WAIT, STORE_CORRUPT, STORE_IO. */
#ifndef LAGRA_BLOB_SNAPSHOT_SCAN_H
#define LAGRA_BLOB_SNAPSHOT_SCAN_H

#include "blob/blob.h"
#include "blob/snapshot_marks.h"

/* Returns the next snapshot of blob_scan_snapshots(), in the arena, skipping deleted ones.
 *
 * Returns STORE_NOT_FOUND at the end. */
enum store_result snapshot_next(struct scan *scan, struct arena *arena,
                                const struct snapshot_marks *marks, struct blob *ret_snapshot);

/* Determines whether the test is true for any of them. */
typedef bool snapshot_test(const struct blob *snapshot, const void *context);
enum store_result snapshots_find(struct decision *d, const struct snapshot_marks *marks,
                                 snapshot_test *test, const void *context, bool *ret_found);

/* Determines whether the blob has a previous version, soft-deleted or not, other than `except` (0:
 * any). */
enum store_result versions_find(struct decision *d, instant except, bool *ret_found);

/* Snapshots changed by one commit of an operation, or by one step of the task. */
#define SNAPSHOTS_AT_ONCE 16u
struct some_snapshots {
    struct blob items[SNAPSHOTS_AT_ONCE];
    size_t count;
    instant next; /* date of the first one not examined; 0: none */
};
/* Returns up to `max` of the first snapshots that the mark changes, with the change applied; there
 * must be no earlier mark. Examines some thousand records. */
enum store_result snapshots_collect(struct decision *d, const struct snapshot_mark *mark,
                                    size_t max, struct some_snapshots *ret_some);

#endif
