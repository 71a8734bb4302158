/* Internal to file/rest/: background jobs of pending copies to files (source/copy_run.h). */
#ifndef LAGRA_FILE_REST_PENDING_FILES_H
#define LAGRA_FILE_REST_PENDING_FILES_H

#include "file/pending_file.h"

/* Task TASK_COPY_FILE: makes sure that a pending copy is running in this process and polls it;
 * deletes the leftovers of one that has ended. */
task_fn copy_file_task;

#endif
