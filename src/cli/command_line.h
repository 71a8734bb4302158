/* Parses the command line into a command and its options. The options include those of Azurite that
 * apply, and may also be set in the environment and in a configuration file (option_sources.h). If
 * the program is run as azurite, azurite-blob, azurite-queue or azurite-table, it behaves like
 * Azurite's command of that name; run as azurite-file, it behaves like such a command for the File
 * service, which Azurite does not have. */
#ifndef LAGRA_CLI_COMMAND_LINE_H
#define LAGRA_CLI_COMMAND_LINE_H

#include "server/options.h"

enum command {
    COMMAND_SERVE,
    COMMAND_OPERATIONS,
    COMMAND_ERRORS,
    COMMAND_OPTIONS,
    COMMAND_CHECK,
    COMMAND_HEALTH,
    COMMAND_CALL, /* a row of command_rows.h that has a function */
};
enum print_form { PRINT_MARKDOWN, PRINT_JSON, PRINT_MANUAL, PRINT_BASH, PRINT_ZSH };

struct command_call;

struct command_line {
    enum command command;
    const struct command_call *call; /* set for COMMAND_CALL */
    enum print_form form;            /* output format of commands that print a table */
    bool json;                       /* check, health: output for scripts */
    const char *salvage_to;          /* check: new data directory, or NULL to check only */
    bool asks_running;               /* health: check all servers on this machine */
    bool asks_live;                  /* health: check liveness instead of readiness */
    struct options options;          /* options of the server to start, check or call */
};

enum options_result command_line_parse(int argc, char **argv, struct command_line *ret_line);

#endif
