/* `lagra check`: verifies a data directory that no server uses. */
#ifndef LAGRA_CHECK_CHECK_H
#define LAGRA_CHECK_CHECK_H

#include <stdbool.h>

/* Reads everything in a data directory and verifies it. Opens the directory like a start (which repairs
 * what it can), and prints a line for each corrupted or lost item and each failed deferred task.
 * Creates nothing if there is no data directory.
 *
 * salvage_to  new directory that receives everything readable of a directory that is refused, with a
 *             list by name of what is lost; NULL: check only
 * json        prints lines of JSON, with progress every second; otherwise progress on a terminal only
 * returns     exit status: 0, or 1 if something is corrupted or lost, or the directory is refused */
int check_run(const char *location, const char *salvage_to, bool json);

#endif
