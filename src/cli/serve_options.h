/* Reads the options of a server from all sources, and checks their combination. */
#ifndef LAGRA_CLI_SERVE_OPTIONS_H
#define LAGRA_CLI_SERVE_OPTIONS_H

#include "cli/option_sources.h"

/* Reads the command line after argv[0], the environment and the configuration file. Does not check
 * combinations. */
enum options_result serve_options_read(int argc, char **argv, struct option_settings *settings,
                                       struct options *options);
/* Like serve_options_read(), but also checks combinations. name: name under which the program was
 * called */
enum options_result serve_options_read_checked(const char *name, int argc, char **argv,
                                               struct option_settings *settings,
                                               struct options *options);

#endif
