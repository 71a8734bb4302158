/* `lagra check`: verifies a data directory that is not in use. */
#ifndef LAGRA_CHECK_CHECK_H
#define LAGRA_CHECK_CHECK_H

#include <stdbool.h>

/* Reads everything in a data directory and verifies it. Opens the directory as a server does at
 * startup (which repairs what it can), and prints a line for each corrupted or lost item and each
 * failed deferred task. Creates nothing if there is no data directory.
 *
 * salvage_to  new directory for everything readable in a directory that the server refuses to
 *             open; lost items are listed by name. NULL: check only
 * json        print lines of JSON, with progress every second; otherwise progress is printed only
 *             on a terminal
 * returns     exit status: 0; 1 if something is corrupted or lost, or the directory cannot be
 *             opened
 */
int check_run(const char *location, const char *salvage_to, bool json);

#endif
