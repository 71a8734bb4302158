/* Inside service/, and for `lagra check`: tasks that failed. One that failed moves to a later place of the list, with the
 * number of its failures: so it never blocks others, nothing that it stands for is lost, and a restart
 * does not reset the number. The more often it has failed, the longer it waits.
 *
 *   kind     TASK_RETRY
 *   payload  1   version (1)
 *            v   how often it has failed
 *            v   the kind that it was added with
 *            bytes  the payload that it was added with
 *
 * decision: 246 */
#ifndef LAGRA_SERVICE_TASK_RETRY_H
#define LAGRA_SERVICE_TASK_RETRY_H

#include "base/errors.h"
#include "store/store.h"

/* Numbers of kinds are stored. */
enum { TASK_RETRY = 2 };

/* From then on each failure has a line in the log. */
#define TASK_FAILURES_LOUD 6u
#define TASK_RETRY_MAX_S   3600u

struct task_try {
    struct deferred_task task;   /* with the kind and the payload that it was added with */
    unsigned failures;           /* so far */
    struct deferred_task stored; /* as it lies in the list */
};
/* False: the task is damaged, logged. */
bool task_try_read(const struct deferred_task *task, struct task_try *ret_try);

/* Moves a task that failed once more. Waits for disks.
 * now      that it was due at
 * returns  STORE_OK; STORE_NOT_FOUND: its space is dropped; otherwise it is where it was */
enum store_result task_put_off(struct store *store, const struct task_try *failed, enum error why,
                               instant now, struct arena *arena);

#endif
