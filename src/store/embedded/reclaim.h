/* Returns the bytes of freed pieces to the file system once the commit that freed them is durable
 * and (stripes.h) no snapshot sees them. */
#ifndef LAGRA_STORE_EMBEDDED_RECLAIM_H
#define LAGRA_STORE_EMBEDDED_RECLAIM_H

#include "store/embedded/freed.h"

struct embedded;

/* If there are more, 64 MiB of memory, the backup loses its hold. */
#define RECLAIM_KEPT_MAX (4u << 20)

/* Punches all pieces that may be punched now. Returns true if others are still waiting. Waits for
 * the disk. Called by the collector. */
bool reclaim_step(struct embedded *embedded);
/* Frees space: punches pieces that a backup no longer holds and, if it still holds some, ends its
 * hold and punches those too. Called by the collector. */
void reclaim_press(struct embedded *embedded);

#endif
