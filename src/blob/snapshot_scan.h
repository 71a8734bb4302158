/* Inside blob/ only: the snapshots and versions of a blob, in order of their dates, as marks leave them (snapshot_marks.h). A scan of
 * many is not for a worker, which serves others: it returns STORE_WAIT there.
 *
 * All run inside decide or a task, and return STORE_OK, STORE_WAIT, STORE_CORRUPT, STORE_IO. */
#ifndef LAGRA_BLOB_SNAPSHOT_SCAN_H
#define LAGRA_BLOB_SNAPSHOT_SCAN_H

#include "blob/blob.h"
#include "blob/snapshot_marks.h"

/* The next one of blob_scan_snapshots(); those that are gone are passed over. In the arena.
 * returns STORE_NOT_FOUND at the end */
enum store_result snapshot_next(struct scan *scan, struct arena *arena,
                                const struct snapshot_marks *marks, struct blob *ret_snapshot);

/* Is there one for which the test is true? */
typedef bool snapshot_test(const struct blob *snapshot, const void *context);
enum store_result snapshots_find(struct decision *d, const struct snapshot_marks *marks,
                                 snapshot_test *test, const void *context, bool *ret_found);

/* Is a snapshot or version of the blob a version, other than `except` (0: any)? Soft-deleted ones count. */
enum store_result versions_find(struct decision *d, instant except, bool *ret_found);

/* Snapshots whose records one commit changes: an operation, and each step of the task. */
#define SNAPSHOTS_AT_ONCE 16u
struct some_snapshots {
    struct blob items[SNAPSHOTS_AT_ONCE];
    size_t count;
    instant next; /* date of the first that was not looked at; 0: none */
};
/* The first ones, at most `max`, that the mark changes, as it makes them of their records: no earlier mark is there. Looks at
 * some thousand. */
enum store_result snapshots_collect(struct decision *d, const struct snapshot_mark *mark,
                                    size_t max, struct some_snapshots *ret_some);

#endif
