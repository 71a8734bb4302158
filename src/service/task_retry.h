/* Failed tasks. Used by service/ and `lagra check`. A failed task moves to a later time in the
 * list, together with its number of failures, so that it never blocks other tasks, no work is lost,
 * and a restart does not reset the number. The delay grows with the number of failures.
 *
 *   kind     TASK_RETRY
 *   payload  1   version (1)
 *            v   number of failures
 *            v   original kind
 *            bytes  original payload
 *
 * decision: 246 */
#ifndef LAGRA_SERVICE_TASK_RETRY_H
#define LAGRA_SERVICE_TASK_RETRY_H

#include "base/errors.h"
#include "store/store.h"

/* Kinds are stored. */
enum { TASK_RETRY = 2 };

/* From this number of failures on, each one is logged */
#define TASK_FAILURES_LOUD 6u
#define TASK_RETRY_MAX_S   3600u
/* Maximum delay after E_ServerBusy. The cell may get an owner again at any time, and clients may be
 * waiting for the task: for example, a name can be created in another cell once it is released. */
#define TASK_BUSY_MAX_S    16u

struct task_try {
    struct deferred_task task;   /* with its original kind and payload */
    unsigned failures;           /* number so far */
    struct deferred_task stored; /* as stored in the list */
};
/* Reads a task. Returns false if it is damaged, which is logged. */
bool task_try_read(const struct deferred_task *task, struct task_try *ret_try);

/* Moves a task that has failed again to a later time. May block.
 * now      time at which it was run
 * returns  STORE_OK; STORE_NOT_FOUND: its space was dropped; after any other result, it has not
 *          moved */
enum store_result task_put_off(struct store *store, const struct task_try *failed, enum error why,
                               instant now, struct arena *arena);

#endif
