/* Commands that have no row function in command_rows.h: health, and those that print tables. */
#ifndef LAGRA_CLI_COMMANDS_H
#define LAGRA_CLI_COMMANDS_H

#include "cli/command_line.h"
#include "service/operation.h"

/* ---- health.c ---- */

/* Checks that the services of the server with these options, or of every server on this machine
 * (asks_running), are ready or alive (asks_live). Prints a line on stderr for each service that is
 * not, or an object for scripts.
 * returns  EXIT_SUCCESS if all are; EXIT_FAILURE otherwise, and if no server is running */
int health_run(const struct command_line *line);

/* ---- print_tables.c ---- */

/* Prints operations for docs/api-coverage.md and the reply check, errors for the check. */
void print_operations(const struct service *const *services, size_t count, enum print_form form);
void print_errors(void);
/* Prints SMB commands as a section of docs/api-coverage.md. */
void print_smb_commands(void);

/* ---- print_options.c, print_completion.c ---- */

/* Prints commands and options for the documentation, as a manual page, or for shell completion. */
void print_options(enum print_form form);
void print_completion_bash(void);
void print_completion_zsh(void);

#endif
