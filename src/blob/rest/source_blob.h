/* Internal to blob/rest/: the source of a copy as a blob. */
#ifndef LAGRA_BLOB_REST_SOURCE_BLOB_H
#define LAGRA_BLOB_REST_SOURCE_BLOB_H

#include "blob/pending_copy.h"
#include "blob/rest/request.h"
#include "source/open_source.h"

/* A member of struct service. */
extern const struct source_functions blob_source_functions;

/* Returns what is known of an open source: everything for a blob of this server, the headers for a
 * blob of another server, and for a file the properties that a block blob has too. */
struct blob source_blob(const struct open_source *open);

/* Task TASK_COPY_BLOB: starts the pending copy unless it is running in this process, and
 * reschedules itself; this resumes copies after a restart. */
task_fn copy_blob_task;

#endif
