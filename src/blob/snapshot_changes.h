/* Inside blob/ only: changes of all snapshots of a blob in one commit of bounded size, and what its base has to know
 * of them. Of a few snapshots the records are changed at once; of more a mark is written (snapshot_marks.h), and a
 * task changes the records in steps. decisions: 249, 792
 *
 * All run inside decide or a task. Those that return a store result: STORE_OK, STORE_WAIT,
 * STORE_CORRUPT, STORE_IO. */
#ifndef LAGRA_BLOB_SNAPSHOT_CHANGES_H
#define LAGRA_BLOB_SNAPSHOT_CHANGES_H

#include "blob/contents.h"
#include "blob/snapshot_scan.h"
#include "service/deferred_tasks.h"

/* Stored, as expire_blocks.h says. */
enum { TASK_DELETE_SNAPSHOTS = 0x120 };
/* Changes the records of some of the snapshots that the oldest mark is about, and adds the task of the rest. */
task_fn snapshot_marks_task;

struct snapshots_changed {
    bool any;  /* there was a snapshot that this changes */
    bool left; /* by a mark: the records, and contents, of some are still as they were */
};
/* Changes every snapshot that there is now; MARK_RESTORED also versions that are soft-deleted.
 *
 * expires  of MARK_DELETED
 * ended    takes what goes with those that are gone for good; contents_unref() is the caller's
 * returns  OK, E_ServerBusy: too many such changes are under way; as decision_fail_content() */
enum error snapshots_change(struct decision *d, enum mark_kind kind, instant expires,
                            struct ended_contents *ended, struct snapshots_changed *ret_changed);

/* Is there a snapshot of the base that is not deleted? Versions are none. */
enum store_result snapshots_find_live(struct decision *d, const struct blob *base, bool *ret_found);

/* Deletes one snapshot or version for good, and brings the base up to date; with the last one goes an anchor. */
enum store_result snapshot_end(struct decision *d, const struct blob *snapshot);

/* Deletes the record of a base; leaves an anchor while it has snapshots or versions. takes_live: these changes delete those that
 * are not soft-deleted. */
enum store_result base_remove(struct decision *d, const struct blob *base, bool takes_live);
/* Deletes a base for good that is soft-deleted; its snapshots stay. */
enum store_result base_end_kept(struct decision *d, const struct blob *base);
/* What a base becomes that is deleted and leaves others behind. has_versions: versions are among them */
struct blob base_anchor(const struct blob *base, instant now, bool has_versions);

#endif
