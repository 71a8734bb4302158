/* Runs the fence command (fence.h) as a child process. */
#ifndef LAGRA_CLUSTER_FENCE_COMMAND_H
#define LAGRA_CLUSTER_FENCE_COMMAND_H

#include <stdbool.h>

#define FENCE_LIMIT_MS 60000u
#define FENCE_WORDS    8u /* the command and its arguments */

/* Result of a command. */
struct fence_end {
    int error;      /* it could not be started: an errno, or 0 */
    bool has_ended; /* false if it was killed after FENCE_LIMIT_MS */
    int status;     /* as of waitpid() */
};

/* Runs the command, words[0], and waits for its end. */
void fence_execute(char *const words[FENCE_WORDS + 1], struct fence_end *ret_end);

#endif
