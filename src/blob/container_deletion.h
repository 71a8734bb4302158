/* Inside blob/ only: the record that a container was deleted a moment ago. For as long as the service
 * works at a deletion, a second Delete Container succeeds too; of anything else the container is
 * gone (decision: 62).
 *
 * It is INNER "d" of the container's partition: u8 1 (version); the instant of the deletion,
 * ticks. A deferred task deletes it; a container that is made meanwhile,
 * or deleted once more, is none of that task's business. */
#ifndef LAGRA_BLOB_CONTAINER_DELETION_H
#define LAGRA_BLOB_CONTAINER_DELETION_H

#include "service/deferred_tasks.h"

/* Stored: never given to anything else. */
enum { TASK_FORGET_DELETION = 0x101 };

/* Notes that the container is deleted at `now`, and adds the task that forgets it. */
void container_deletion_write(struct changes *changes, struct arena *arena, instant now);
/* Of a container that does not exist: was it deleted so short a time before `now`?
 * returns STORE_OK, STORE_NOT_FOUND: no; STORE_CORRUPT, STORE_WAIT, STORE_IO */
enum store_result container_deletion_is_recent(struct snapshot *before, struct arena *arena,
                                               instant now);
/* Its handler. */
task_fn container_deletion_forget;

#endif
