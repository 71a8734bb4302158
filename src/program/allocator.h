/* The allocator of the program: jemalloc, which it is linked with. Sanitizers bring one of their
 * own. */
#ifndef LAGRA_PROGRAM_ALLOCATOR_H
#define LAGRA_PROGRAM_ALLOCATOR_H

#include <stdbool.h>

/* Starts jemalloc's own thread, which returns memory that nobody uses to the system, so that what a
 * crowd of clients took is not kept after they left. Not by jemalloc's own option: where no thread
 * can be started, that ends in a crash. Once, by the main thread.
 * returns false when there is no memory or thread for it; then memory is returned later, if at all.
 * jemalloc(3), "background_thread" */
bool allocator_start(void);

#endif
