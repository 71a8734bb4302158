/* Runs the store's durable list of deferred tasks (store_task_next()). One thread takes the tasks
 * that are due, in order of time, and decides and commits each. A service lists the handlers of its
 * kinds of tasks in struct service.
 *
 * A task runs at least once, and again after a crash or a conflict. Its handler therefore decides
 * on the current state, and first checks whether there is still something to do.
 *
 * A task that fails is retried after one second, two, four and so on, up to an hour (up to 16
 * seconds if another cell cannot be reached), and never abandoned (task_retry.h). A handler does a
 * bounded amount of work and adds a task for the rest, so that no task can exhaust the memory of
 * the process. */
#ifndef LAGRA_SERVICE_DEFERRED_TASKS_H
#define LAGRA_SERVICE_DEFERRED_TASKS_H

#include "service/decision.h"

struct service;
struct endpoint;

/* Decides a task like an operation: reads d->before, the task's partition, and adds to d->changes,
 * which are committed together with the removal of the task. To continue later, it adds another
 * task to the changes.
 *
 * endpoint  endpoint of its service; NULL in a program that does not serve requests
 * returns   STORE_OK; STORE_NOT_FOUND: the task's subject no longer exists, and the task
 *           is removed; another result of the store, or STORE_BUSY if another cell cannot be
 *           reached: nothing is committed, and the task is retried later */
typedef enum store_result task_fn(struct decision *d, const struct deferred_task *task,
                                  const struct endpoint *endpoint);

/* Kinds are stored, so a number is never reused. Kinds of the Blob service start at 0x100; 1 is
 * TASK_COLLECT_CONTENT, 2 is TASK_RETRY (task_retry.h), 3 TASK_DROP_SPACE. */
enum { TASK_DROP_SPACE = 3 }; /* payload: the space to drop */
struct task_handler {
    uint32_t kind;
    const char *name; /* description for operators */
    task_fn *decide;
};
/* Returns the name of a kind of task, or NULL if it has no handler. */
struct endpoint_set;
const char *task_kind_name(const struct endpoint_set *endpoints, uint32_t kind);

/* Runs tasks that are due at `now`: all, or a few hundred. May block. Must not be called while a
 * runner is active.
 *
 * ret_left  true if tasks failed or have no handler; they remain in the list, most with a later
 * time
 * returns   time of the next task; `now` if more are due; INSTANT_MAX if the list is empty */
instant tasks_run_due(struct store *store, const struct service *const *services,
                      const struct endpoint *endpoints, size_t count, instant now, bool *ret_left);

struct task_runner;
/* Starts the thread that runs tasks. The caller retains ownership of the arrays. endpoints: one per
 * service, or NULL. Returns NULL if no thread can be started. Called on the main thread. */
struct task_runner *task_runner_start(struct store *store, const struct service *const *services,
                                      const struct endpoint *endpoints, size_t count);
/* Wakes the runner after the clock was moved. Thread-safe. */
void task_runner_look(struct task_runner *runner);
/* Waits up to `ms` milliseconds until all tasks due at `now` have run, including tasks they added
 * that are due by then. Failed tasks are not waited for again. Returns false on timeout. May block;
 * thread-safe. */
bool task_runner_await(struct task_runner *runner, instant now, int ms);
/* Stops the runner after the current task. Must be called before the store is closed. Called on the
 * main thread. */
void task_runner_stop(struct task_runner *runner);

#endif
