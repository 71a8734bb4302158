/* Restores part of a backup into a running server (admin/restore_state.h). This process reads the
 * backup, so that it can be where the server cannot read. docs/backup.md */
#ifndef LAGRA_CLI_RESTORE_H
#define LAGRA_CLI_RESTORE_H

#include "cli/command_rows.h"

extern const struct command_option restore_options[], restore_all_options[];
/* Restore a container, queue, table or share, as named by the row; or everything in an account.
 * Each returns an exit status. */
int restore_run(const struct command_call *call);
int restore_all(const struct command_call *call);

#endif
