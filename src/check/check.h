/* `lagra check`: verifies the data directory of a stopped server. */
#ifndef LAGRA_CHECK_CHECK_H
#define LAGRA_CHECK_CHECK_H

#include <stdbool.h>

struct master_keys;

/* Reads and verifies everything in a data directory. Opens the directory like a server, which
 * includes crash recovery, and prints a line for each corrupted or lost item and each failed
 * deferred task. Creates nothing if the data directory does not exist.
 *
 * salvage_to  new directory for everything that can be read from a directory that the server
 *             refuses to open; lists lost items by name. NULL means check only
 * keys        master keys, for a directory that is encrypted at rest, or NULL
 * json        print lines of JSON, with progress every second; otherwise, progress is shown only on
 *             a terminal
 * returns     exit status: 0; 1 if something is corrupted or lost, or the directory cannot be
 *             opened
 */
int check_run(const char *location, const char *salvage_to, const struct master_keys *keys,
              bool json);

#endif
