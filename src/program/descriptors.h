/* The descriptors that this process may have. Main thread. */
#ifndef LAGRA_PROGRAM_DESCRIPTORS_H
#define LAGRA_PROGRAM_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>

/* How many it may have, after asking for as many as it may ask for. */
unsigned descriptors_allow(void);

#define DESCRIPTORS_ASKED_MAX 64u
/* Can so many more be had now, of this process and of the machine? */
bool descriptors_are_free(size_t count);

#endif
