/* `lagra scrub`: starts the scrub of a server (admin/scrubber.h); rows of command_rows.h. */
#ifndef LAGRA_CLI_SCRUB_H
#define LAGRA_CLI_SCRUB_H

#include "cli/command_rows.h"

extern const struct command_option scrub_options_of_command[];

int scrub_run(const struct command_call *call);

#endif
