/* Copying an account into a server, and out of one: docs/import.md */
#ifndef LAGRA_CLI_IMPORT_H
#define LAGRA_CLI_IMPORT_H

#include "cli/command_rows.h"

extern const struct command_option import_options[], export_options[];
/* return an exit status: 0, all was copied, and what is there is the same */
int import_run(const struct command_call *call);
int export_run(const struct command_call *call);

#endif
