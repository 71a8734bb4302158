/* The engine's own tasks, and the thread that does them: transactions that are to be forgotten, spaces that were
 * dropped, pieces that nothing refers to, and what dead front ends have left. Its thread waits for the cluster. */
#ifndef LAGRA_STORE_RADOS_KEEPER_H
#define LAGRA_STORE_RADOS_KEEPER_H

#include "store/rados/rados_private.h"

/* Between two looks of the thread. */
#define KEEPER_STEP_MS 1000

struct keeper *keeper_start(struct rados *rados);
void keeper_stop(struct keeper *keeper);
/* Does all that can be done now, on this thread. is_all: whenever it is due. Pieces stay that an open snapshot of this
 * front end may refer to. */
void keeper_pass(struct rados *rados, bool is_all);

#endif
