/* `lagra scrub`, as command_rows.h has commands; and starting the scrub of a server (admin/scrubber.h). */
#ifndef LAGRA_CLI_SCRUB_H
#define LAGRA_CLI_SCRUB_H

#include "cli/command_rows.h"

extern const struct command_option scrub_options_of_command[];

int scrub_run(const struct command_call *call);

#endif
