/* Runs the fence command in a separate process, for a server in a sandbox, which cannot run
 * programs itself (server/sandbox.h). The process is started before the server enters the sandbox,
 * runs only the command that it was started with, and ends when the server does.
 *
 * A request is a message on a Unix socket: the arguments of the command, each followed by a zero
 * byte, and the write end of a pipe, to which a child of the helper writes the result. So several
 * cells can be fenced at the same time. decision: 1172 */
#ifndef LAGRA_CLUSTER_FENCE_HELPER_H
#define LAGRA_CLUSTER_FENCE_HELPER_H

#include "cluster/fence_command.h"

/* Starts the process. `command` is owned by the caller. Returns false with errno. Called on
 * the main thread while it is the only one. */
bool fence_helper_start(const char *command);
/* Returns true once the process was started. */
bool fence_helper_is_started(void);
/* Has the helper run the command with these arguments, of which the first is ignored, and waits for
 * the result. Thread-safe. */
void fence_helper_run(char *const words[FENCE_WORDS + 1], struct fence_end *ret_end);

#endif
