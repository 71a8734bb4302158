/* The thread that looks after what nobody needs any longer: after a start it compares extents with
 * the index (recovery.h); then it deletes the contents of dropped spaces and frees pieces
 * that nobody sees. All it does can be stopped at any point and goes on after the next start. */
#ifndef LAGRA_STORE_EMBEDDED_COLLECTOR_H
#define LAGRA_STORE_EMBEDDED_COLLECTOR_H

#include "store/embedded/collector_queue.h"

/* False: no thread; to be stopped all the same. */
bool collector_start(struct collector *collector);
/* Ends the thread where it is. */
void collector_stop(struct collector *collector);

#endif
