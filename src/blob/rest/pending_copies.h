/* Inside blob/rest/ only: runs pending copies of blobs in the background (source/copy_run.h). */
#ifndef LAGRA_BLOB_REST_PENDING_COPIES_H
#define LAGRA_BLOB_REST_PENDING_COPIES_H

#include "blob/pending_copy.h"

/* Task TASK_COPY_BLOB: starts the pending copy unless it is running in this process, and
 * reschedules itself; this resumes copies after a restart. */
task_fn copy_blob_task;

#endif
