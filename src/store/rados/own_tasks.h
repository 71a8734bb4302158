/* What the engine's own tasks do (task_row.h). Each may be done twice, by two front ends at once. They wait for the
 * cluster. */
#ifndef LAGRA_STORE_RADOS_OWN_TASKS_H
#define LAGRA_STORE_RADOS_OWN_TASKS_H

#include "store/rados/todo.h"

/* A row of a piece that has moved is looked after so much later, and as often as its intent is still there. */
#define OWN_MOVED_TICKS (24 * 3600 * TICKS_PER_SECOND)

/* True: it is done, and its row may go. is_all: though it is not due. */
bool own_task_do(struct rados *rados, const struct own_task *task, bool is_all);

#endif
