/* From an ask of SMB to a message, and from its answer to what it says. */
#ifndef LAGRA_SIM_SM_REQUEST_H
#define LAGRA_SIM_SM_REQUEST_H

#include "request.h"

/* Sends it by the client's connection, which it begins if need be, and waits for the answer.
 * ret_answer->came: false: the client has no connection, or it was cut. */
void sm_request_send(unsigned slot, const struct ask *ask, struct reply *ret_answer);

#endif
