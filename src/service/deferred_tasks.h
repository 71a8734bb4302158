/* The runner of the store's durable list of deferred tasks (store_task_next()): one thread that
 * takes what is due, in order of time, and decides and commits it as a request's exchange would. A
 * service names the handlers of the kinds that it adds in struct service.
 *
 * A task runs at least once: again after a crash or a conflict. So its handler decides on the state
 * as it is now, and checks first whether there still is something to do.
 *
 * A task that fails is put off, by a second, two, four, up to an hour, and never given up
 * (task_retry.h). It must not be able to end the process either: its handler does a bounded part of
 * what may be much, and adds a task for the rest. */
#ifndef LAGRA_SERVICE_DEFERRED_TASKS_H
#define LAGRA_SERVICE_DEFERRED_TASKS_H

#include "service/decision.h"

struct service;
struct endpoint;

/* Decides a task, as an operation is decided: on d->before, which is the task's partition, into
 * d->changes, which are committed together with the task's removal. To go on later it adds another
 * task to the changes.
 *
 * endpoint  of its service; NULL where nobody serves
 * returns   STORE_OK; as the store: then nothing is committed, and the task is put off;
 *           STORE_NOT_FOUND: there is nothing left that it could be done to, and it is removed */
typedef enum store_result task_fn(struct decision *d, const struct deferred_task *task,
                                  const struct endpoint *endpoint);

/* Numbers of kinds are stored: one is never given to anything else. Those of the Blob service begin
 * at 0x100; 1 is TASK_COLLECT_CONTENT, 2 is of task_retry.h. */
struct task_handler {
    uint32_t kind;
    task_fn *decide;
};

/* Runs tasks that are due at `now`: all, or some hundred. Waits for disks; not while a runner runs.
 *
 * ret_left  some failed, or are of a kind without a handler: they stay in the list, most of them
 *           put off
 * returns   when the next one is due, at most `now` when there are more; INSTANT_MAX: none is
 *           left */
instant tasks_run_due(struct store *store, const struct service *const *services,
                      const struct endpoint *endpoints, size_t count, instant now, bool *ret_left);

struct task_runner;
/* NULL: no thread could be started. services, and the endpoint of each (NULL: none): stay the
 * caller's. Main thread. */
struct task_runner *task_runner_start(struct store *store, const struct service *const *services,
                                      const struct endpoint *endpoints, size_t count);
/* Returns when the task that is running is done. Before the store is closed. Main thread. */
void task_runner_stop(struct task_runner *runner);

#endif
