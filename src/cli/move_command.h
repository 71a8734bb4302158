/* `lagra cluster move`, `drain` and `reclaim`: move containers, queues, tables and shares between
 * the cells of a cluster, and restore their placements, by requests to the owners of the cells
 * (service/placement_move.h, admin/move_out.h, admin/cell_reclaim.h). docs/cells.md */
#ifndef LAGRA_CLI_MOVE_COMMAND_H
#define LAGRA_CLI_MOVE_COMMAND_H

#include "cli/command_rows.h"

extern const struct command_option cluster_move_options[];
extern const struct command_option cluster_drain_options[];

/* Each returns the exit status. */
int cluster_move_run(const struct command_call *call);
int cluster_drain_run(const struct command_call *call);
int cluster_reclaim_run(const struct command_call *call);

#endif
