/* Inside of program/ only: the options by their names, and help on them. */
#ifndef LAGRA_PROGRAM_OPTION_ROWS_H
#define LAGRA_PROGRAM_OPTION_ROWS_H

#include "program/options.h"

/* Reads all words behind the first as options, into *options, and prints what is wrong with one, or
 * the help that it asks for.
 *
 * ret_named  set for each service that an option is about; the last: for one about all. All false
 *            before */
enum options_result option_rows_parse(int argc, char **argv, struct options *options,
                                      bool ret_named[SERVICE_COUNT + 1]);
/* All commands and options. */
void option_rows_print_help(void);

#endif
