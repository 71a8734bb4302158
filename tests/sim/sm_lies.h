/* Requests of SMB clients that must be refused at admission: with a wrong signature, the id of another session or tree,
 * the handle of another client, the GUID of an earlier create, and by a second session of the same connection. Nothing
 * may be committed for them. MS-SMB2 3.3.5.2.4, 3.3.5.2.9, 3.3.5.2.11, 3.3.5.2.12, 3.3.5.9.10 */
#ifndef LAGRA_SIM_SM_LIES_H
#define LAGRA_SIM_SM_LIES_H

#include "request.h"

/* Called before each request of the client. In some runs it sends a lie now and then, and fails the run unless the lie
 * is refused. */
void sm_lie_before(unsigned slot, const struct sm_ask *ask);
/* Returns whether the client is waiting for the response to a lie. */
bool sm_is_lying(unsigned slot);

#endif
