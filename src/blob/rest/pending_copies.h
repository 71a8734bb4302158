/* Inside blob/rest/ only: pending copies of blobs, carried on in the background (source/copy_run.h). */
#ifndef LAGRA_BLOB_REST_PENDING_COPIES_H
#define LAGRA_BLOB_REST_PENDING_COPIES_H

#include "blob/pending_copy.h"

/* Task TASK_COPY_BLOB: sees to it that a pending copy is under way in this process, and comes back
 * to look again; so one goes on after a restart. */
task_fn copy_blob_task;

#endif
