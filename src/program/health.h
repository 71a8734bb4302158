/* lagra health: does the server answer that runs with these options, or the one that runs here? */
#ifndef LAGRA_PROGRAM_HEALTH_H
#define LAGRA_PROGRAM_HEALTH_H

#include "program/options.h"

/* Asks every wanted service; with asks_running those that each server here serves. A word on stderr for each that does not answer.
 *
 * returns  EXIT_SUCCESS if all do, else EXIT_FAILURE, also when no server runs here */
int health_ask(const struct options *options);

#endif
