/* Before anything is started: is there enough of what a start takes? Libraries that find out for
 * themselves end the process by an assertion or an exception. */
#ifndef LAGRA_PROGRAM_START_CHECK_H
#define LAGRA_PROGRAM_START_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* Starts so many threads at the same time, maps so much memory beside them, and gives all of it
 * back. Returns false, after saying on stderr what there is too little of. Main thread. */
bool start_check(unsigned threads, size_t memory_bytes);

#endif
