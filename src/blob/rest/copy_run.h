/* Inside blob/rest/ only: pending copies, carried on in the background. */
#ifndef LAGRA_BLOB_REST_COPY_RUN_H
#define LAGRA_BLOB_REST_COPY_RUN_H

#include "blob/pending_copy.h"

/* Task TASK_COPY_BLOB: sees to it that a pending copy is under way in this process, and comes back
 * to look again; so one goes on after a restart. */
task_fn copy_blob_task;

#endif
