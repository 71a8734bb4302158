/* `lagra backup`, `backup verify`, `backup restore` (backup/backup.h), as command_rows.h has commands. */
#ifndef LAGRA_CLI_BACKUP_H
#define LAGRA_CLI_BACKUP_H

#include "cli/command_rows.h"

extern const struct command_option back_up_options[], back_up_copy_options[];

int back_up(const struct command_call *call);
int back_up_verify(const struct command_call *call);
int back_up_restore(const struct command_call *call);

#endif
