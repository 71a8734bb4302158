/* What the server says on stdout when a service starts and stops. Tools wait for Azurite's lines,
 * so by its names (options.h) they are said letter by letter, and --silent does not silence
 * them, as there. */
#ifndef LAGRA_SERVER_BANNER_H
#define LAGRA_SERVER_BANNER_H

#include "server/options.h"

enum greeting { GREET_STARTING, GREET_LISTENING, GREET_CLOSING, GREET_CLOSED, GREETINGS };

/* port: the one listened on; of GREET_STARTING the one asked for */
void greet(const struct options *options, enum greeting what, size_t service, uint16_t port);
/* The same of every service that is served; GREET_CLOSING and GREET_CLOSED. */
void greet_all(const struct options *options, enum greeting what);

#endif
