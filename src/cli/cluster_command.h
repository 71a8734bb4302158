/* lagra cluster: what operators do with the folder of a cluster. docs/cells.md */
#ifndef LAGRA_CLI_CLUSTER_COMMAND_H
#define LAGRA_CLI_CLUSTER_COMMAND_H

#include "cli/command_rows.h"

extern const struct command_option cluster_init_options[];
extern const struct command_option cluster_evict_options[];

/* Return the exit status. */
int cluster_init_run(const struct command_call *call);
int cluster_add_cell_run(const struct command_call *call);
int cluster_place_run(const struct command_call *call);
int cluster_status_run(const struct command_call *call);
int cluster_evict_run(const struct command_call *call);

#endif
