/* Prints to stdout when a service starts and stops. Tools wait for Azurite's lines, so under
 * Azurite's names (cli/command_line.h) they are printed verbatim, and --silent does not suppress
 * them, like in Azurite. */
#ifndef LAGRA_SERVER_BANNER_H
#define LAGRA_SERVER_BANNER_H

#include "server/options.h"

enum greeting { GREET_STARTING, GREET_LISTENING, GREET_CLOSING, GREET_CLOSED, GREETINGS };

/* Prints the line of one service. port: the port listened on; for GREET_STARTING the requested
 * one */
void greet(const struct options *options, enum greeting what, size_t service, uint16_t port);
/* Prints GREET_CLOSING or GREET_CLOSED for every service that is served. */
void greet_all(const struct options *options, enum greeting what);

#endif
