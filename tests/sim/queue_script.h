/* What a client does next with queues. */
#ifndef LAGRA_SIM_QUEUE_SCRIPT_H
#define LAGRA_SIM_QUEUE_SCRIPT_H

#include "request.h"

void queue_draw(unsigned client, unsigned number, struct ask *ret_ask);

#endif
