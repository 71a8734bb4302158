/* Allocates memory for keys that live as long as the process: left out of core dumps, and not
 * swapped as far as the limit of locked memory allows. Whole pages each. */
#ifndef LAGRA_BASE_SECRET_MEMORY_H
#define LAGRA_BASE_SECRET_MEMORY_H

#include <stddef.h>

/* Returns zeroed memory. Ends the process if no memory is available. Thread-safe. */
void *secret_memory_new(size_t size);
/* Wipes and frees it. memory: may be NULL; size: as it was requested */
void secret_memory_free(void *memory, size_t size);

#endif
