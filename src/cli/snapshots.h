/* `lagra snapshot`: saves the state of a server that is started with --testing, and has it go back there
 * (docs/testing.md). Asks at its management port, since a server in memory has no admin socket. Each returns an exit
 * status. */
#ifndef LAGRA_CLI_SNAPSHOTS_H
#define LAGRA_CLI_SNAPSHOTS_H

#include "cli/command_rows.h"

extern const struct command_option snapshots_options[];

int snapshots_save(const struct command_call *call);
int snapshots_load(const struct command_call *call);
int snapshots_delete(const struct command_call *call);
int snapshots_list(const struct command_call *call);

#endif
