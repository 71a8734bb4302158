/* Copies an account into a server, or from one: docs/import.md */
#ifndef LAGRA_CLI_IMPORT_H
#define LAGRA_CLI_IMPORT_H

#include "cli/command_rows.h"

extern const struct command_option import_options[], export_options[];
/* Each returns an exit status: 0 if everything was copied and matches the source. */
int import_run(const struct command_call *call);
int export_run(const struct command_call *call);

#endif
