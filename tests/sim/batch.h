/* Blob Batch: the answer to each of its parts. */
#ifndef LAGRA_SIM_BATCH_H
#define LAGRA_SIM_BATCH_H

#include "request.h"

/* The part's answer, as if it had come alone; without headers but its error's code. False: it is
 * not there. */
bool batch_reply(const struct reply *whole, unsigned part, struct reply *ret_reply);

#endif
