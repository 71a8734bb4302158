/* Inside file/rest/ only: pending copies to files, carried on in the background (source/copy_run.h). */
#ifndef LAGRA_FILE_REST_PENDING_FILES_H
#define LAGRA_FILE_REST_PENDING_FILES_H

#include "file/pending_file.h"

/* Task TASK_COPY_FILE: sees to it that a pending copy is under way in this process, and comes back to look
 * again; deletes what is left of one that has ended. */
task_fn copy_file_task;

#endif
