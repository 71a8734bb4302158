/* Commands that have no row function in command_rows.h: health, and those that print tables. */
#ifndef LAGRA_CLI_COMMANDS_H
#define LAGRA_CLI_COMMANDS_H

#include "cli/command_line.h"
#include "service/operation.h"

/* ---- health.c ---- */

/* Checks whether the services of the server with these options, or of every server on this machine
 * (asks_running), are ready or, with asks_live, alive. Prints a line on stderr for each service
 * that is not, or a JSON object with --json. Returns EXIT_SUCCESS if all are; EXIT_FAILURE
 * otherwise, and if no server is running. */
int health_run(const struct command_line *line);

/* ---- print_tables.c ---- */

/* Print the tables of operations and of errors, for docs/api-coverage.md and for the tests that
 * check all responses. */
void print_operations(const struct service *const *services, size_t count, enum print_form form);
void print_errors(void);
/* Prints the SMB section of docs/api-coverage.md. */
void print_smb_commands(void);

/* ---- print_options.c, print_completion.c ---- */

/* Prints commands and options for the documentation, as a manual page, or for shell completion. */
void print_options(enum print_form form);
void print_completion_bash(void);
void print_completion_zsh(void);

#endif
