/* The garbage collector thread: after a start it compares the extents with the index (recovery.h);
 * then it deletes the contents of dropped spaces and frees pieces that no snapshot sees. It can be
 * interrupted at any point and continues after the next start. */
#ifndef LAGRA_STORE_EMBEDDED_COLLECTOR_H
#define LAGRA_STORE_EMBEDDED_COLLECTOR_H

#include "store/embedded/freed.h"

/* Returns false if no thread could be created; collector_stop() must be called anyway. */
bool collector_start(struct collector *collector);
/* Ends the thread, interrupting its work. */
void collector_stop(struct collector *collector);

#endif
