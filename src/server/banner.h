/* Prints to stdout when a service starts and stops. Tools wait for Azurite's lines, so under
 * Azurite's names (cli/command_line.h) they are printed verbatim, and --silent does not suppress
 * them, as in Azurite. */
#ifndef LAGRA_SERVER_BANNER_H
#define LAGRA_SERVER_BANNER_H

#include "server/options.h"

enum banner { BANNER_STARTING, BANNER_LISTENING, BANNER_CLOSING, BANNER_CLOSED, BANNERS };

/* Prints the line of one service. port: the port listened on; for BANNER_STARTING the requested
 * one */
void banner_print(const struct options *options, enum banner what, size_t service, uint16_t port);
/* Prints BANNER_CLOSING or BANNER_CLOSED for every service that is served. */
void banner_print_all(const struct options *options, enum banner what);

#endif
