/* Internal to file/rest/: a file as the source of a copy. */
#ifndef LAGRA_FILE_REST_SOURCE_FILE_H
#define LAGRA_FILE_REST_SOURCE_FILE_H

#include "file/file_operations.h"
#include "file/pending_file.h"
#include "source/open_source.h"

/* A member of struct service. */
extern const struct source_functions file_source_functions;
/* Returns the file of an open source, or NULL if it is not a file of this server. */
const struct get_file_properties_result *source_file(const struct open_source *open);

/* Internal to file/rest/: background jobs of pending copies to files (source/copy_run.h). */

/* Task TASK_COPY_FILE: makes sure that a pending copy is running in this process and polls it;
 * deletes the leftovers of one that has ended. */
task_fn copy_file_task;

#endif
