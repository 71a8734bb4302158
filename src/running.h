/* Servers of this program that run beside this process: in its container, or on its machine. */
#ifndef LAGRA_RUNNING_H
#define LAGRA_RUNNING_H

#include "options.h"

/* Calls `found` for each process that runs the same program file and serves, with the options that
 * it was started with, which are valid during the call. Not seen are processes of other users
 * (unless this one is root's), and those with more than 64 KiB of arguments. */
void running_servers(void (*found)(const struct options *options, void *context), void *context);

#endif
