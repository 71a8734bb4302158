/* What a client does next: drawn from the seed, the client's number and the request's. */
#ifndef LAGRA_SIM_SCRIPT_H
#define LAGRA_SIM_SCRIPT_H

#include "request.h"

void script_draw(unsigned client, unsigned number, struct ask *ret_ask);

#endif
