/* The file calls of the simulated process. Everything below /sim is on the simulated disk; no other
 * path exists for the server. */
#ifndef LAGRA_SIM_FILES_H
#define LAGRA_SIM_FILES_H

#include <sys/types.h>

#define SIM_ROOT "/sim"

/* Bytes of a descriptor that was given for sending, as the kernel would read them: no faults. */
ssize_t files_peek(int fd, void *to, size_t size, off_t at);
unsigned files_open(void);

#endif
