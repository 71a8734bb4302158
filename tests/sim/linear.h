/* A second judge, which knows nothing but times: the ETags that clients were told of a blob, and
 * when, must be those of one blob that changes at one moment each. */
#ifndef LAGRA_SIM_LINEAR_H
#define LAGRA_SIM_LINEAR_H

#include "request.h"

void linear_begin(void);
void linear_note(const struct ask *ask, const struct reply *answer);
/* Fails the run when there is no such order. */
void linear_check(void);

#endif
