/* Returns the bytes of freed pieces to the file system once the commit that freed them is durable
 * and (stripes.h) no snapshot sees them. */
#ifndef LAGRA_STORE_EMBEDDED_RECLAIM_H
#define LAGRA_STORE_EMBEDDED_RECLAIM_H

#include "store/embedded/freed.h"

struct embedded;

/* If there are more, 64 MiB of memory, the backup loses its hold. */
#define RECLAIM_KEPT_MAX (4u << 20)

/* Punches what is allowed by now. Returns true if something is still waiting. Waits for the disk.
 * Collector. */
bool reclaim_step(struct embedded *embedded);
/* Makes room: punches what a backup no longer holds and, if it still holds anything, ends its hold
 * and punches that too. Collector. */
void reclaim_press(struct embedded *embedded);

#endif
