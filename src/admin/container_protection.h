/* Protects containers: commands (internal to admin/). See blob/container_immutability.h. */
#ifndef LAGRA_ADMIN_CONTAINER_PROTECTION_H
#define LAGRA_ADMIN_CONTAINER_PROTECTION_H

#include "admin/admin_private.h"

/* Closes the call's container before its deletion, so that nothing is created in it once the
 * deletion has found that it is empty; or opens it again. Does nothing for a container that is not
 * protected, or does not exist. */
void container_set_closed(struct admin_call *call, struct bytes account, bool is_closed);

#endif
