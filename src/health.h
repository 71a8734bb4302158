/* lagra health: does the server answer that runs with these options? */
#ifndef LAGRA_HEALTH_H
#define LAGRA_HEALTH_H

#include "options.h"

/* Asks every wanted service. A word on stderr for each that does not answer.
 *
 * returns  EXIT_SUCCESS if all do, else EXIT_FAILURE */
int health_ask(const struct options *options);

#endif
