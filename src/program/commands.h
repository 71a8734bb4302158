/* The commands beside serving. */
#ifndef LAGRA_PROGRAM_COMMANDS_H
#define LAGRA_PROGRAM_COMMANDS_H

#include "program/options.h"
#include "service/operation.h"

/* ---- lagra check: check.c ---- */

/* Everything in a data folder is read and held against what it should be. Opens the folder as a start
 * does (which mends what it can), and prints a line for each thing that is damaged or lost, and for each
 * deferred task that failed. With `salvage_to`, all that can be read of a folder that is refused is put
 * into that new one, and what is lost is listed by name. Where there is no data folder nothing is
 * written. json: lines of it, with progress each second; else progress on a terminal alone.
 * Exit status: 0 nothing is damaged or lost, 1 something is, or the folder is refused. */
int check_run(const char *location, const char *salvage_to, bool json);

/* ---- lagra health: health.c ---- */

/* Is the server ready that runs with these options, or does it live (asks_live)? Asks every wanted service;
 * with asks_running those that each server here serves. A line on stderr for each that is not; for scripts an object.
 * returns  EXIT_SUCCESS if all are, else EXIT_FAILURE, also when no server runs here */
int health_ask(const struct options *options);

/* ---- the tables in print: print_tables.c ---- */

/* Operations for docs/operations.md and the reply check, errors for the check. */
void print_operations(const struct service *const *services, size_t count, enum print_form form);
void print_errors(void);
/* print_commands.c: of SMB, as a section of docs/operations.md. */
void print_smb_commands(void);
/* print_options.c: for docs, as a manual page, for the completion of shells. */
void print_options(enum print_form form);
/* print_completion.c: of commands and options, for shells that read it. */
void print_completion_bash(void);
void print_completion_zsh(void);

#endif
