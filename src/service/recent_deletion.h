/* Record of a recently deleted container or share. While the service is still processing a
 * deletion, another Delete Container or Delete Share also succeeds. For all other operations the
 * container does not exist (decision: 62).
 *
 * It is INNER "d" of its partition: u8 1 (version); instant of the deletion, in ticks. A deferred
 * task deletes the record. The task does not affect a container that is created or deleted again
 * under the name in the meantime. A service with such records has recent_deletion_forget() among
 * its task handlers. */
#ifndef LAGRA_SERVICE_RECENT_DELETION_H
#define LAGRA_SERVICE_RECENT_DELETION_H

#include "service/deferred_tasks.h"

/* Stored; must never be reused. */
enum { TASK_FORGET_DELETION = 0x101 };

/* Records the deletion at `now`, and adds the task that deletes the record. */
void recent_deletion_write(struct changes *changes, struct arena *arena, instant now);
/* Finds out whether a missing container was deleted shortly before `now`.
 * returns STORE_OK: it was; STORE_NOT_FOUND; STORE_CORRUPT, STORE_WAIT, STORE_IO */
enum store_result recent_deletion_find(struct read_view *before, struct arena *arena, instant now);
/* Handler of TASK_FORGET_DELETION. */
task_fn recent_deletion_forget;

#endif
