/* Requests of SMB clients that must be refused before their command is looked at: with a wrong signature, in the name of
 * another session or tree, by another client's handle, and by a second session of the same connection. Nothing may be
 * committed for them. MS-SMB2 3.3.5.2.4, 3.3.5.2.9, 3.3.5.2.11, 3.3.5.2.12 */
#ifndef LAGRA_SIM_SM_LIES_H
#define LAGRA_SIM_SM_LIES_H

#include "request.h"

/* Before the client sends what it asks, in some runs now and then: sends a lie, and fails the run unless it is refused. */
void sm_lie_before(unsigned slot, const struct sm_ask *ask);
/* Is a lie of the client under way? */
bool sm_is_lying(unsigned slot);

#endif
