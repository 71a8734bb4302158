/* Restricts a server, after its options are read, to the files that they name, the system files it
 * reads (Landlock), and the system calls it makes (seccomp). An attacker who takes over the process
 * through client input cannot write other files, run programs or create processes. decision: 371,
 * docs/sandbox.md
 * man: landlock(7), seccomp(2) */
#ifndef LAGRA_SERVER_SANDBOX_H
#define LAGRA_SERVER_SANDBOX_H

#include "server/options.h"

#define SANDBOX_WORDS_SIZE 192

/* Enters the sandbox that the options ask for. words: description of the restrictions for the
 * operator, fewer on older kernels; "" if none exist. Called by the main thread while it is the
 * only one.
 * Returns  false, after printing why on stderr, if a required restriction fails. */
bool sandbox_enter(const struct options *options, char words[SANDBOX_WORDS_SIZE]);

/* ---- sandbox_calls.c ---- */

/* Restricts system calls to the list, or lets the kernel only log others (logs). ret_count: calls
 * in the list
 * returns  false with errno set */
bool sandbox_calls_enter(bool logs, unsigned *ret_count);

#endif
