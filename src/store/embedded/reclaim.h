/* Returns the bytes of freed pieces to the file system, once the commit that freed them is
 * durable and (stripes.h) nobody can see them. */
#ifndef LAGRA_STORE_EMBEDDED_RECLAIM_H
#define LAGRA_STORE_EMBEDDED_RECLAIM_H

#include "store/embedded/freed.h"

struct embedded;

/* When there are more, 64 MiB of memory, the backup has lost its hold. */
#define RECLAIM_KEPT_MAX (4u << 20)

/* Punches what may go by now. Returns true when something still waits. Waits for the disk.
 * Collector. */
bool reclaim_step(struct embedded *embedded);
/* Room is needed: punches what a backup holds no longer and, if it holds anything else, takes its hold
 * from it, and punches that too. Collector. */
void reclaim_press(struct embedded *embedded);

#endif
