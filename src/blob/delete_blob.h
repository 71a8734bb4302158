/* Inside blob/ only: the task of a tombstone over deleted snapshots (snapshot_tombstone.h). */
#ifndef LAGRA_BLOB_DELETE_BLOB_H
#define LAGRA_BLOB_DELETE_BLOB_H

#include "service/deferred_tasks.h"

/* Stored, as expire_blocks.h says. */
enum { TASK_DELETE_SNAPSHOTS = 0x120 };

/* Deletes some of the snapshots under the tombstone, and adds the task of the rest. */
task_fn delete_snapshots_task;

#endif
