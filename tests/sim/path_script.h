/* Draws the next request of a client of a hierarchical account. */
#ifndef LAGRA_SIM_PATH_SCRIPT_H
#define LAGRA_SIM_PATH_SCRIPT_H

#include "request.h"

void path_script_draw(unsigned client, unsigned number, struct ask *ret_ask);

#endif
