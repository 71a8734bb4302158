/* Putting a part of a backup into a running server (admin/restore_state.h): the backup is read by this process, which may
 * read where the server may not. docs/backup.md */
#ifndef LAGRA_CLI_RESTORE_H
#define LAGRA_CLI_RESTORE_H

#include "cli/command_rows.h"

extern const struct command_option restore_options[], restore_all_options[];
/* A container, queue, table or share, as the row's name says; and all of an account. return an exit status */
int restore_run(const struct command_call *call);
int restore_all(const struct command_call *call);

#endif
