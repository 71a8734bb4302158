/* Internal to blob/: changes all snapshots of a blob in one commit of bounded size, and updates the
 * fields of the base that depend on them. The records of a few snapshots are changed at once; for
 * more a mark is written (snapshot_marks.h), and a task changes the records in steps. decisions:
 * 249, 792
 *
 * All run inside decide or a task. Store results are STORE_OK, STORE_WAIT, STORE_CORRUPT,
 * STORE_IO. */
#ifndef LAGRA_BLOB_SNAPSHOT_CHANGES_H
#define LAGRA_BLOB_SNAPSHOT_CHANGES_H

#include "blob/contents.h"
#include "blob/snapshot_scan.h"
#include "service/deferred_tasks.h"

/* Stored, see uncommitted.h. */
enum { TASK_DELETE_SNAPSHOTS = 0x120 };
/* Changes the records of some of the snapshots in the range of the oldest mark, and adds a task for
 * the rest. */
task_fn snapshot_marks_task;

struct snapshots_changed {
    bool any;  /* it changed a snapshot */
    bool left; /* through a mark: some records and contents are not changed yet */
};
/* Changes every current snapshot; MARK_RESTORED also changes soft-deleted versions.
 *
 * expires  of MARK_DELETED
 * ended    receives the contents of those that are permanently deleted; the caller calls
 *          content_release_reference()
 *
 * Returns OK, E_ServerBusy if too many such changes are in progress, or an error of
 * decision_fail_content(). */
enum error snapshots_change(struct decision *d, enum mark_kind kind, instant expires,
                            struct ended_contents *ended, struct snapshots_changed *ret_changed);

/* Determines whether the base has a snapshot that is not deleted. Versions do not count. */
enum store_result snapshots_find_live(struct decision *d, const struct blob *base, bool *ret_found);

/* Deletes a snapshot or version permanently and updates the base; an anchor is deleted with the
 * last one. */
enum store_result snapshot_end(struct decision *d, const struct blob *snapshot);

/* Deletes the record of a base, or leaves an anchor if it has snapshots or versions. takes_live:
 * those not soft-deleted are deleted in the same changes */
enum store_result base_remove(struct decision *d, const struct blob *base, bool takes_live);
/* Deletes a soft-deleted base permanently; its snapshots remain. */
enum store_result base_end_kept(struct decision *d, const struct blob *base);
/* Returns the anchor that a deleted base leaves. has_versions: there are previous versions */
struct blob base_anchor(const struct blob *base, instant now, bool has_versions);

#endif
