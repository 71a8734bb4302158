/* The record that a container or share was deleted a moment ago. For as long as the service works at a
 * deletion, a second Delete Container or Delete Share succeeds too; of anything else it is gone
 * (decision: 62).
 *
 * It is INNER "d" of its partition: u8 1 (version); the instant of the deletion, ticks. A deferred
 * task deletes it; what is made meanwhile under the name, or deleted once more, is not affected by
 * that task. A service that has such records names recent_deletion_forget() among its handlers. */
#ifndef LAGRA_SERVICE_RECENT_DELETION_H
#define LAGRA_SERVICE_RECENT_DELETION_H

#include "service/deferred_tasks.h"

/* Stored: never given to anything else. */
enum { TASK_FORGET_DELETION = 0x101 };

/* Notes that it is deleted at `now`, and adds the task that forgets it. */
void recent_deletion_write(struct changes *changes, struct arena *arena, instant now);
/* Of what does not exist: was it deleted so short a time before `now`?
 * returns STORE_OK, STORE_NOT_FOUND: no; STORE_CORRUPT, STORE_WAIT, STORE_IO */
enum store_result recent_deletion_find(struct snapshot *before, struct arena *arena, instant now);
/* Its handler. */
task_fn recent_deletion_forget;

#endif
