/* The tables in print: operations for docs/operations.md and the reply check, errors for the
 * check. */
#ifndef LAGRA_PROGRAM_PRINT_TABLES_H
#define LAGRA_PROGRAM_PRINT_TABLES_H

#include "program/options.h"
#include "service/operation.h"

void print_operations(const struct service *const *services, size_t count, enum print_form form);
void print_errors(void);

#endif
